import { createHash } from "node:crypto";
import { foldedPath, isThinkeryError, type Overlap } from "@thinkery/sdk";
import { combineMoves, planSync, type SyncSides, type SyncStep } from "@thinkery/sdk/internal";
import { type FileState, isFresh, isSameState } from "../../folder/file-state.ts";
import { removeContent, writeContent } from "../../folder/write.ts";
import { conflictPath } from "./conflict-path.ts";
import type { Found, LocalSide } from "./sync-local.ts";
import type { Refusals } from "./sync-refusals.ts";
import type { Remote, RemoteEdit } from "./sync-remote.ts";
import { isRefusal, pathOf, Sending, small } from "./sync-sending.ts";
import { several } from "./sync-several.ts";
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

interface RoundOptions {
  folder: string;
  remote: Remote;
  onEvent(event: SyncEvent): void;
  local: LocalSide;
  refusals: Refusals;
  found: Found;
  there: ReadonlyMap<string, string>;
  version: number;
  state: SyncState;
  /** When it fires, nothing further is begun. */
  signal?: AbortSignal | undefined;
}

/** One pass over all files. */
export class Round {
  readonly #options: RoundOptions;
  readonly #sending: Sending;
  /** The files of both sides as they were before anything was done, by their hashes. */
  readonly sides: SyncSides<string>;
  /** The files of the folder by how they are compared where upper and lower case are the same. */
  #folded: Map<string, string> | undefined;
  isComplete = true;
  /** Of so many files that differ nothing can be done. */
  left = 0;
  /** Is there something to be remembered that was not before? */
  hasLearned = false;

  constructor(options: RoundOptions) {
    this.#options = options;
    this.#sending = new Sending({
      send: (edits) => this.#sendAll(edits),
      onRefused: (edit, error) => this.#refused(pathOf(edit), error),
    });
    this.sides = { base: hashesOf(options.state.files), here: hashesOf(options.found.local), there: options.there };
  }

  plan(): SyncStep[] {
    const { found, refusals } = this.#options;
    this.isComplete = [...found.moving].every((path) => found.untaken.some((one) => one.path === path));
    const isUnknown = (path: string) => found.moving.has(path) || found.isHidden(path) || found.ignores(path);
    const { agreed, steps } = planSync(this.sides, isUnknown);
    for (const path of agreed) this.#agree(path, this.sides.here.get(path));
    const due = steps.filter(({ path }) => !refusals.holds(path, this.#both(path)));
    this.left += steps.length - due.length;
    // What is ignored has to be known before anything else comes.
    const rules = due.filter(({ path, action }) => action === "fetch" && /(?:^|\/)\.gitignore$/.test(path));
    if (rules.length > 0) {
      this.isComplete = false;
      return rules;
    }
    due.sort((one, other) => (one.path < other.path ? -1 : 1));
    return combineMoves(due, this.sides);
  }

  async carryOut(steps: readonly SyncStep[]): Promise<void> {
    const of = <A extends SyncStep["action"]>(action: A) =>
      this.#untilOver(steps.filter((step): step is Extract<SyncStep, { action: A }> => step.action === action));
    // What goes makes room: a folder may come where a file was.
    for (const { path } of of("removeHere")) this.#removeHere(path);
    for (const { path } of of("conflict")) await this.#keepBoth(path);
    await several(of("fetch"), ({ path }) => this.#fetch(path));
    for (const { path } of of("removeThere")) await this.#sending.add({ delete: path });
    for (const { path, from } of of("moveThere")) await this.#sending.add({ move: from, to: path });
    for (const { path } of of("send")) await this.#send(path);
    await this.#sending.flush();
  }

  *#untilOver<T>(steps: readonly T[]): Generator<T> {
    for (const step of steps) {
      if (!this.#options.signal?.aborted) yield step;
      else this.isComplete = false;
    }
  }

  #agree(path: string, hash: string | undefined): void {
    const { found } = this.#options;
    const state = found.local.get(path)?.state;
    this.#know(path, hash, state && !isFresh(state, found.at) ? state : undefined);
  }

  /** Both sides have this now. */
  #know(path: string, hash: string | undefined, state?: FileState): void {
    const { refusals, state: { files } } = this.#options;
    refusals.settle(path);
    const known = files.get(path);
    if (known?.hash === hash && isSameState(known?.state, state)) return;
    this.hasLearned = true;
    if (hash === undefined) files.delete(path);
    else files.set(path, { hash, ...(state ? { state } : {}) });
  }

  #removeHere(path: string): void {
    const { folder, found, onEvent } = this.#options;
    const local = found.local.get(path);
    if (!local) return;
    const removed = removeContent(folder, path, local.state);
    if (removed !== "removed") return this.#later(path, removed);
    found.local.delete(path);
    found.files.delete(path);
    this.#know(path, undefined);
    onEvent({ did: "removed here", path });
  }

  async #fetch(path: string): Promise<void> {
    const { folder, found, there, state, onEvent } = this.#options;
    const hash = there.get(path) as string;
    const local = found.local.get(path);
    const twin = this.#twinOf(path);
    // Where upper and lower case are the same, it would be written over that one.
    if (twin !== undefined) return this.#later(path, { refused: `“${twin}” is here already, and differs from it by upper and lower case only` });
    const bytes = await this.#remoteBytes(path, hash);
    if (!bytes) return;
    const written = writeContent(folder, path, bytes, { expected: local?.state, isDurable: true });
    if (written === "changed" || "refused" in written) return this.#later(path, written);
    const wasDeleted = !local && state.files.has(path);
    this.#options.local.wrote(path, written.state);
    this.#know(path, hash);
    onEvent(wasDeleted ? { did: "kept", path, why: "it was deleted here and changed there" } : { did: "fetched", path });
  }

  #twinOf(path: string): string | undefined {
    const { files } = this.#options.found;
    if (files.has(path)) return undefined;
    this.#folded ??= new Map([...files.keys()].map((one) => [foldedPath(one), one]));
    return this.#folded.get(foldedPath(path));
  }

  async #send(path: string): Promise<void> {
    const { found, there, local, remote } = this.#options;
    const { hash } = found.local.get(path) as { hash: string };
    const bytes = await local.bytes(path, hash);
    if (!bytes) return this.#later(path);
    if (bytes.length <= small) return this.#sending.add({ write: path, bytes });
    // It may be meant for the place of something that is still to be removed.
    await this.#sending.flush();
    const before = there.get(path);
    await this.#attempt(path, () => remote.put(path, bytes, before === undefined ? { isNew: true } : { ifMatch: before }), () => {
      this.#sent(path, hash);
      this.#know(path, hash);
    });
  }

  /** The other side's file goes beside our own, here and there, before ours takes its place there. */
  async #keepBoth(path: string): Promise<void> {
    const { folder, found, there, local, remote, version, onEvent } = this.#options;
    const [mine, theirs] = [found.local.get(path)?.hash as string, there.get(path) as string];
    const [ours, other] = [await local.bytes(path, mine), await this.#remoteBytes(path, theirs)];
    if (!ours || !other) return this.#later(path);
    const beside = this.#besideFor(path, theirs);
    if (found.local.get(beside)?.hash !== theirs) {
      const written = writeContent(folder, beside, other, { expected: undefined, isDurable: true });
      if (written === "changed" || "refused" in written) return this.#later(path, written);
      local.wrote(beside, written.state);
    }
    await this.#attempt(
      path,
      async () => {
        if (ours.length <= small && other.length <= small) {
          const { overlaps } = await remote.edit([{ write: beside, bytes: other }, { write: path, bytes: ours }], version);
          return overlaps.forEach((overlap) => this.#overlapped(overlap));
        }
        if (there.get(beside) !== theirs) await remote.put(beside, other, { isNew: true });
        await remote.put(path, ours, { ifMatch: theirs });
      },
      () => {
        this.#know(beside, theirs);
        this.#know(path, mine);
        onEvent({ did: "conflict", path, beside });
      },
    );
  }

  /** A name that is free on both sides, or has just this in it from an attempt that was cut short. */
  #besideFor(path: string, hash: string): string {
    const { found, there } = this.#options;
    for (let attempt = 0; ; attempt++) {
      const beside = conflictPath(path, hash, attempt);
      const [here, away] = [found.local.get(beside)?.hash, there.get(beside)];
      const isFree = (side: string | undefined) => side === undefined || side === hash;
      if (isFree(here) && isFree(away) && !found.moving.has(beside)) return beside;
    }
  }

  async #remoteBytes(path: string, hash: string): Promise<Uint8Array | undefined> {
    const bytes = await this.#options.remote.get(path).catch((error: unknown) => {
      if (isThinkeryError(error) && error.code === "not_found") return undefined;
      throw error;
    });
    if (bytes && createHash("sha256").update(bytes).digest("hex") === hash) return bytes;
    this.isComplete = false;
    return undefined;
  }

  async #sendAll(edits: readonly RemoteEdit[]): Promise<void> {
    const { remote, version } = this.#options;
    const { overlaps } = await remote.edit(edits, version);
    for (const edit of edits) this.#taken(edit);
    for (const overlap of overlaps) this.#overlapped(overlap);
  }

  /** The host has made this change. */
  #taken(edit: RemoteEdit): void {
    const { found, onEvent } = this.#options;
    const path = pathOf(edit);
    const gone = "delete" in edit ? edit.delete : "move" in edit ? edit.move : undefined;
    if (gone !== undefined) this.#know(gone, undefined);
    if ("delete" in edit) return onEvent({ did: "removed there", path });
    const hash = found.local.get(path)?.hash as string;
    if ("move" in edit) onEvent({ did: "moved there", path, from: edit.move });
    else this.#sent(path, hash);
    this.#know(path, hash);
  }

  /** The host has merged what somebody changed in the meantime; what came of it is fetched. */
  #overlapped({ path, kept, reason }: Overlap): void {
    this.isComplete = false;
    this.#options.onEvent({ did: "conflict", path, why: reason, ...(kept === undefined ? {} : { beside: kept }) });
  }

  #sent(path: string, hash: string): void {
    const { there, state, onEvent } = this.#options;
    const wasDeleted = !there.has(path) && state.files.has(path) && state.files.get(path)?.hash !== hash;
    onEvent(wasDeleted ? { did: "kept", path, why: "it was deleted there and changed here" } : { did: "sent", path });
  }

  async #attempt(path: string, work: () => Promise<unknown>, done: () => void): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (!isRefusal(error)) throw error;
      return this.#refused(path, error);
    }
    done();
  }

  #refused(path: string, error: Error): void {
    if (isThinkeryError(error) && error.code === "precondition_failed") return this.#later(path);
    this.#later(path, { refused: error.message });
  }

  /** It was not done. Either it is tried again at once, or it cannot be as things are. */
  #later(path: string, why: "changed" | { refused: string } = "changed"): void {
    const { refusals, onEvent } = this.#options;
    if (why === "changed") {
      this.isComplete = false;
      return;
    }
    this.left++;
    if (refusals.add(path, this.#both(path), why.refused)) onEvent({ did: "left", path, why: why.refused });
  }

  /** What both sides have of a file. */
  #both(path: string): string {
    const { found, there } = this.#options;
    return `${found.local.get(path)?.hash}:${there.get(path)}`;
  }
}

function hashesOf(files: ReadonlyMap<string, { hash: string }>): Map<string, string> {
  return new Map([...files].map(([path, { hash }]) => [path, hash]));
}
