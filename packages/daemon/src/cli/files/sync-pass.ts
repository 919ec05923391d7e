import { createHash } from "node:crypto";
import { foldPathCase, isThinkeryError, type Overlap } from "@thinkery/sdk";
import { combineMoves, planSync, type SyncSides, type SyncStep } from "@thinkery/sdk/internal";
import { type FileState, isFresh, isSameState } from "../../folder/file-state.ts";
import { removeContent, writeContent } from "../../folder/write.ts";
import { conflictPath } from "./conflict-path.ts";
import { isRefusal, getEditPath, EditBatcher, maxBatchedFileBytes } from "./edit-batcher.ts";
import { forEachConcurrently } from "./for-each-concurrently.ts";
import type { SyncFailures } from "./sync-failures.ts";
import type { LocalScan, LocalSide } from "./sync-local.ts";
import type { Remote, RemoteEdit } from "./sync-remote.ts";
import type { SyncState } from "./sync-state.ts";

export interface SyncEvent {
  did: "sent" | "fetched" | "removed here" | "removed there" | "moved there" | "conflict" | "kept" | "left";
  path: string;
  /** Where it was. */
  from?: string;
  /** Where the other file is. */
  beside?: string;
  why?: string;
}

interface SyncPassOptions {
  folder: string;
  remote: Remote;
  onEvent(event: SyncEvent): void;
  local: LocalSide;
  failures: SyncFailures;
  found: LocalScan;
  there: ReadonlyMap<string, string>;
  version: number;
  state: SyncState;
  /** When it fires, nothing further is begun. */
  signal?: AbortSignal | undefined;
}

/** One pass over all files. */
export class SyncPass {
  readonly #options: SyncPassOptions;
  readonly #batcher: EditBatcher;
  /** The files of both sides as they were before anything was done, by their hashes. */
  readonly sides: SyncSides<string>;
  /** The files of the folder by how they are compared where upper and lower case are the same. */
  #pathsByFoldedPath: Map<string, string> | undefined;
  isComplete = true;
  /** Of so many files that differ nothing can be done. */
  leftCount = 0;
  /** Is there something to be remembered that was not before? */
  hasStateChanged = false;

  constructor(options: SyncPassOptions) {
    this.#options = options;
    this.#batcher = new EditBatcher({
      send: (edits) => this.#sendBatch(edits),
      onRefused: (edit, error) => this.#handleRefusal(getEditPath(edit), error),
    });
    this.sides = { base: toHashes(options.state.files), here: toHashes(options.found.local), there: options.there };
  }

  plan(): SyncStep[] {
    const { found, failures } = this.#options;
    this.isComplete = [...found.moving].every((path) => found.untaken.some((one) => one.path === path));
    const isUnknown = (path: string) => found.moving.has(path) || found.isHidden(path) || found.ignores(path);
    const { agreed, steps } = planSync(this.sides, isUnknown);
    for (const path of agreed) this.#recordAgreed(path, this.sides.here.get(path));
    const due = steps.filter(({ path }) => !failures.isHeld(path, this.#toSidesKey(path)));
    this.leftCount += steps.length - due.length;
    // What is ignored has to be known before anything else comes.
    const rules = due.filter(({ path, action }) => action === "fetch" && /(?:^|\/)\.gitignore$/.test(path));
    if (rules.length > 0) {
      this.isComplete = false;
      return rules;
    }
    due.sort((one, other) => (one.path < other.path ? -1 : 1));
    return combineMoves(due, this.sides);
  }

  async apply(steps: readonly SyncStep[]): Promise<void> {
    const filterSteps = <A extends SyncStep["action"]>(action: A) =>
      this.#untilAborted(steps.filter((step): step is Extract<SyncStep, { action: A }> => step.action === action));
    // What goes makes room: a folder may come where a file was.
    for (const { path } of filterSteps("removeHere")) this.#removeHere(path);
    for (const { path } of filterSteps("conflict")) await this.#keepBoth(path);
    await forEachConcurrently(filterSteps("fetch"), ({ path }) => this.#fetch(path));
    for (const { path } of filterSteps("removeThere")) await this.#batcher.add({ delete: path });
    for (const { path, from } of filterSteps("moveThere")) await this.#batcher.add({ move: from, to: path });
    for (const { path } of filterSteps("send")) await this.#send(path);
    await this.#batcher.flush();
  }

  *#untilAborted<T>(steps: readonly T[]): Generator<T> {
    for (const step of steps) {
      if (!this.#options.signal?.aborted) yield step;
      else this.isComplete = false;
    }
  }

  #recordAgreed(path: string, hash: string | undefined): void {
    const { found } = this.#options;
    const state = found.local.get(path)?.state;
    this.#recordState(path, hash, state && !isFresh(state, found.at) ? state : undefined);
  }

  /** Both sides have this now. */
  #recordState(path: string, hash: string | undefined, state?: FileState): void {
    const {
      failures,
      state: { files },
    } = this.#options;
    failures.clear(path);
    const known = files.get(path);
    if (known?.hash === hash && isSameState(known?.state, state)) return;
    this.hasStateChanged = true;
    if (hash === undefined) files.delete(path);
    else files.set(path, { hash, ...(state ? { state } : {}) });
  }

  #removeHere(path: string): void {
    const { folder, found, onEvent } = this.#options;
    const local = found.local.get(path);
    if (!local) return;
    const removed = removeContent(folder, path, local.state);
    if (removed !== "removed") return this.#postpone(path, removed);
    found.local.delete(path);
    found.files.delete(path);
    this.#recordState(path, undefined);
    onEvent({ did: "removed here", path });
  }

  async #fetch(path: string): Promise<void> {
    const { folder, found, there, state, onEvent } = this.#options;
    const hash = there.get(path) as string;
    const local = found.local.get(path);
    const caseCollision = this.#findCaseCollision(path);
    // Where upper and lower case are the same, it would be written over that one.
    if (caseCollision !== undefined)
      return this.#postpone(path, {
        refused: `“${caseCollision}” is here already, and differs from it by upper and lower case only`,
      });
    const bytes = await this.#readRemote(path, hash);
    if (!bytes) return;
    const written = writeContent(folder, path, bytes, { expected: local?.state, isDurable: true });
    if (written === "changed" || "refused" in written) return this.#postpone(path, written);
    const wasDeleted = !local && state.files.has(path);
    this.#options.local.recordWrite(path, written.state);
    this.#recordState(path, hash);
    onEvent(
      wasDeleted ? { did: "kept", path, why: "it was deleted here and changed there" } : { did: "fetched", path },
    );
  }

  #findCaseCollision(path: string): string | undefined {
    const { files } = this.#options.found;
    if (files.has(path)) return undefined;
    this.#pathsByFoldedPath ??= new Map([...files.keys()].map((one) => [foldPathCase(one), one]));
    return this.#pathsByFoldedPath.get(foldPathCase(path));
  }

  async #send(path: string): Promise<void> {
    const { found, there, local, remote } = this.#options;
    const { hash } = found.local.get(path) as { hash: string };
    const bytes = await local.readBytes(path, hash);
    if (!bytes) return this.#postpone(path);
    if (bytes.length <= maxBatchedFileBytes) return this.#batcher.add({ write: path, bytes });
    // It may be meant for the place of something that is still to be removed.
    await this.#batcher.flush();
    const before = there.get(path);
    await this.#attempt(
      path,
      () => remote.put(path, bytes, before === undefined ? { isNew: true } : { ifMatch: before }),
      () => {
        this.#reportSent(path, hash);
        this.#recordState(path, hash);
      },
    );
  }

  /** The other side's file goes beside our own, here and there, before ours takes its place there. */
  async #keepBoth(path: string): Promise<void> {
    const { folder, found, there, local, remote, version, onEvent } = this.#options;
    const [mine, theirs] = [found.local.get(path)?.hash as string, there.get(path) as string];
    const [ours, other] = [await local.readBytes(path, mine), await this.#readRemote(path, theirs)];
    if (!ours || !other) return this.#postpone(path);
    const beside = this.#findConflictPath(path, theirs);
    if (found.local.get(beside)?.hash !== theirs) {
      const written = writeContent(folder, beside, other, { expected: undefined, isDurable: true });
      if (written === "changed" || "refused" in written) return this.#postpone(path, written);
      local.recordWrite(beside, written.state);
    }
    await this.#attempt(
      path,
      async () => {
        if (ours.length <= maxBatchedFileBytes && other.length <= maxBatchedFileBytes) {
          const { overlaps } = await remote.edit(
            [
              { write: beside, bytes: other },
              { write: path, bytes: ours },
            ],
            version,
          );
          return overlaps.forEach((overlap) => this.#reportOverlap(overlap));
        }
        if (there.get(beside) !== theirs) await remote.put(beside, other, { isNew: true });
        await remote.put(path, ours, { ifMatch: theirs });
      },
      () => {
        this.#recordState(beside, theirs);
        this.#recordState(path, mine);
        onEvent({ did: "conflict", path, beside });
      },
    );
  }

  /** A name that is free on both sides, or has just this in it from an attempt that was cut short. */
  #findConflictPath(path: string, hash: string): string {
    const { found, there } = this.#options;
    for (let attempt = 0; ; attempt++) {
      const beside = conflictPath(path, hash, attempt);
      const [here, away] = [found.local.get(beside)?.hash, there.get(beside)];
      const isFree = (side: string | undefined) => side === undefined || side === hash;
      if (isFree(here) && isFree(away) && !found.moving.has(beside)) return beside;
    }
  }

  async #readRemote(path: string, hash: string): Promise<Uint8Array | undefined> {
    const bytes = await this.#options.remote.get(path).catch((error: unknown) => {
      if (isThinkeryError(error) && error.code === "not_found") return undefined;
      throw error;
    });
    if (bytes && createHash("sha256").update(bytes).digest("hex") === hash) return bytes;
    this.isComplete = false;
    return undefined;
  }

  async #sendBatch(edits: readonly RemoteEdit[]): Promise<void> {
    const { remote, version } = this.#options;
    const { overlaps } = await remote.edit(edits, version);
    for (const edit of edits) this.#recordApplied(edit);
    for (const overlap of overlaps) this.#reportOverlap(overlap);
  }

  /** The host has made this change. */
  #recordApplied(edit: RemoteEdit): void {
    const { found, onEvent } = this.#options;
    const path = getEditPath(edit);
    const gone = "delete" in edit ? edit.delete : "move" in edit ? edit.move : undefined;
    if (gone !== undefined) this.#recordState(gone, undefined);
    if ("delete" in edit) return onEvent({ did: "removed there", path });
    const hash = found.local.get(path)?.hash as string;
    if ("move" in edit) onEvent({ did: "moved there", path, from: edit.move });
    else this.#reportSent(path, hash);
    this.#recordState(path, hash);
  }

  /** The host has merged what somebody changed in the meantime; what came of it is fetched. */
  #reportOverlap({ path, kept, reason }: Overlap): void {
    this.isComplete = false;
    this.#options.onEvent({ did: "conflict", path, why: reason, ...(kept === undefined ? {} : { beside: kept }) });
  }

  #reportSent(path: string, hash: string): void {
    const { there, state, onEvent } = this.#options;
    const wasDeleted = !there.has(path) && state.files.has(path) && state.files.get(path)?.hash !== hash;
    onEvent(wasDeleted ? { did: "kept", path, why: "it was deleted there and changed here" } : { did: "sent", path });
  }

  async #attempt(path: string, work: () => Promise<unknown>, done: () => void): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (!isRefusal(error)) throw error;
      return this.#handleRefusal(path, error);
    }
    done();
  }

  #handleRefusal(path: string, error: Error): void {
    if (isThinkeryError(error) && error.code === "precondition_failed") return this.#postpone(path);
    this.#postpone(path, { refused: error.message });
  }

  /** It was not done. Either it is tried again at once, or it cannot be as things are. */
  #postpone(path: string, why: "changed" | { refused: string } = "changed"): void {
    const { failures, onEvent } = this.#options;
    if (why === "changed") {
      this.isComplete = false;
      return;
    }
    this.leftCount++;
    if (failures.add(path, this.#toSidesKey(path), why.refused)) onEvent({ did: "left", path, why: why.refused });
  }

  /** What both sides have of a file. */
  #toSidesKey(path: string): string {
    const { found, there } = this.#options;
    return `${found.local.get(path)?.hash}:${there.get(path)}`;
  }
}

function toHashes(files: ReadonlyMap<string, { hash: string }>): Map<string, string> {
  return new Map([...files].map(([path, { hash }]) => [path, hash]));
}
