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
  action:
    | "uploaded"
    | "downloaded"
    | "deleted-local"
    | "deleted-remote"
    | "moved-remote"
    | "conflict"
    | "restored"
    | "skipped";
  path: string;
  /** Its previous path. */
  from?: string;
  /** Path of the other side's version. */
  conflictCopy?: string;
  reason?: string;
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
  /** When aborted, no further steps are started. */
  signal?: AbortSignal | undefined;
}

/** One sync pass over all files. */
export class SyncPass {
  readonly #options: SyncPassOptions;
  readonly #batcher: EditBatcher;
  /** The hashes of the files on both sides before the pass. */
  readonly sides: SyncSides<string>;
  /** The files of the folder by their case-folded path. */
  #pathsByFoldedPath: Map<string, string> | undefined;
  isComplete = true;
  /** Number of files that differ but cannot be synced. */
  unsyncedCount = 0;
  /** Whether the common state has to be saved. */
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
    this.isComplete = [...found.unsettled].every((path) => found.skipped.some((file) => file.path === path));
    const isUnknown = (path: string) => found.unsettled.has(path) || found.isHidden(path) || found.ignores(path);
    const { agreed, steps } = planSync(this.sides, isUnknown);
    for (const path of agreed) this.#recordAgreed(path, this.sides.here.get(path));
    const due = steps.filter(({ path }) => !failures.isDelayed(path, this.#toSidesKey(path)));
    this.unsyncedCount += steps.length - due.length;
    // Ignore rules have to be in place before other files are fetched.
    const rules = due.filter(({ path, action }) => action === "fetch" && /(?:^|\/)\.gitignore$/.test(path));
    if (rules.length > 0) {
      this.isComplete = false;
      return rules;
    }
    due.sort((a, b) => (a.path < b.path ? -1 : 1));
    return combineMoves(due, this.sides);
  }

  async apply(steps: readonly SyncStep[]): Promise<void> {
    const filterSteps = <A extends SyncStep["action"]>(action: A) =>
      this.#untilAborted(steps.filter((step): step is Extract<SyncStep, { action: A }> => step.action === action));
    // Removals first: a folder may take the place of a file.
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

  /** Records that both sides have this content. */
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
    onEvent({ action: "deleted-local", path });
  }

  async #fetch(path: string): Promise<void> {
    const { folder, found, there, state, onEvent } = this.#options;
    const hash = there.get(path) as string;
    const local = found.local.get(path);
    const caseCollision = this.#findCaseCollision(path);
    // On a case-insensitive file system it would overwrite that file.
    if (caseCollision !== undefined)
      return this.#postpone(path, {
        refused: `“${caseCollision}” already exists locally and differs only in case`,
      });
    const bytes = await this.#readRemote(path, hash);
    if (!bytes) return;
    const written = writeContent(folder, path, bytes, { expected: local?.state, isDurable: true });
    if (written === "changed" || "refused" in written) return this.#postpone(path, written);
    const wasDeleted = !local && state.files.has(path);
    this.#options.local.recordWrite(path, written.state);
    this.#recordState(path, hash);
    onEvent(
      wasDeleted
        ? { action: "restored", path, reason: "deleted locally and changed remotely" }
        : { action: "downloaded", path },
    );
  }

  #findCaseCollision(path: string): string | undefined {
    const { files } = this.#options.found;
    if (files.has(path)) return undefined;
    this.#pathsByFoldedPath ??= new Map([...files.keys()].map((file) => [foldPathCase(file), file]));
    return this.#pathsByFoldedPath.get(foldPathCase(path));
  }

  async #send(path: string): Promise<void> {
    const { found, there, local, remote } = this.#options;
    const { hash } = found.local.get(path) as { hash: string };
    const bytes = await local.readBytes(path, hash);
    if (!bytes) return this.#postpone(path);
    if (bytes.length <= maxBatchedFileBytes) return this.#batcher.add({ write: path, bytes });
    // Its path may still be occupied by a file whose removal is in the batch.
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

  /** Saves the remote file as a conflict copy on both sides before ours replaces it. */
  async #keepBoth(path: string): Promise<void> {
    const { folder, found, there, local, remote, version, onEvent } = this.#options;
    const [localHash, remoteHash] = [found.local.get(path)?.hash as string, there.get(path) as string];
    const [localBytes, remoteBytes] = [
      await local.readBytes(path, localHash),
      await this.#readRemote(path, remoteHash),
    ];
    if (!localBytes || !remoteBytes) return this.#postpone(path);
    const copyPath = this.#findConflictPath(path, remoteHash);
    if (found.local.get(copyPath)?.hash !== remoteHash) {
      const written = writeContent(folder, copyPath, remoteBytes, { expected: undefined, isDurable: true });
      if (written === "changed" || "refused" in written) return this.#postpone(path, written);
      local.recordWrite(copyPath, written.state);
    }
    await this.#attempt(
      path,
      async () => {
        if (localBytes.length <= maxBatchedFileBytes && remoteBytes.length <= maxBatchedFileBytes) {
          const { overlaps } = await remote.edit(
            [
              { write: copyPath, bytes: remoteBytes },
              { write: path, bytes: localBytes },
            ],
            version,
          );
          return overlaps.forEach((overlap) => this.#reportOverlap(overlap));
        }
        if (there.get(copyPath) !== remoteHash) await remote.put(copyPath, remoteBytes, { isNew: true });
        await remote.put(path, localBytes, { ifMatch: remoteHash });
      },
      () => {
        this.#recordState(copyPath, remoteHash);
        this.#recordState(path, localHash);
        onEvent({ action: "conflict", path, conflictCopy: copyPath });
      },
    );
  }

  /** Returns a path that is free on both sides, or already has this content from an interrupted attempt. */
  #findConflictPath(path: string, hash: string): string {
    const { found, there } = this.#options;
    for (let attempt = 0; ; attempt++) {
      const copyPath = conflictPath(path, hash, attempt);
      const isFree = (existing: string | undefined) => existing === undefined || existing === hash;
      if (isFree(found.local.get(copyPath)?.hash) && isFree(there.get(copyPath)) && !found.unsettled.has(copyPath))
        return copyPath;
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

  /** Records an edit that the host has applied. */
  #recordApplied(edit: RemoteEdit): void {
    const { found, onEvent } = this.#options;
    const path = getEditPath(edit);
    const removed = "delete" in edit ? edit.delete : "move" in edit ? edit.move : undefined;
    if (removed !== undefined) this.#recordState(removed, undefined);
    if ("delete" in edit) return onEvent({ action: "deleted-remote", path });
    const hash = found.local.get(path)?.hash as string;
    if ("move" in edit) onEvent({ action: "moved-remote", path, from: edit.move });
    else this.#reportSent(path, hash);
    this.#recordState(path, hash);
  }

  /** Reports a conflict that the host merged; the next pass fetches the result. */
  #reportOverlap({ path, conflictCopy, reason }: Overlap): void {
    this.isComplete = false;
    this.#options.onEvent({
      action: "conflict",
      path,
      reason,
      ...(conflictCopy === undefined ? {} : { conflictCopy }),
    });
  }

  #reportSent(path: string, hash: string): void {
    const { there, state, onEvent } = this.#options;
    const wasDeleted = !there.has(path) && state.files.has(path) && state.files.get(path)?.hash !== hash;
    onEvent(
      wasDeleted
        ? { action: "restored", path, reason: "deleted remotely and changed locally" }
        : { action: "uploaded", path },
    );
  }

  async #attempt(path: string, work: () => Promise<unknown>, onDone: () => void): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (!isRefusal(error)) throw error;
      return this.#handleRefusal(path, error);
    }
    onDone();
  }

  #handleRefusal(path: string, error: Error): void {
    if (isThinkeryError(error) && error.code === "precondition_failed") return this.#postpone(path);
    this.#postpone(path, { refused: error.message });
  }

  /** Postpones a file: to the next pass if it changed, otherwise until the failure may be resolved. */
  #postpone(path: string, cause: "changed" | { refused: string } = "changed"): void {
    const { failures, onEvent } = this.#options;
    if (cause === "changed") {
      this.isComplete = false;
      return;
    }
    this.unsyncedCount++;
    if (failures.add(path, this.#toSidesKey(path), cause.refused))
      onEvent({ action: "skipped", path, reason: cause.refused });
  }

  /** Returns a key of the file's hashes on both sides. */
  #toSidesKey(path: string): string {
    const { found, there } = this.#options;
    return `${found.local.get(path)?.hash}:${there.get(path)}`;
  }
}

function toHashes(files: ReadonlyMap<string, { hash: string }>): Map<string, string> {
  return new Map([...files].map(([path, { hash }]) => [path, hash]));
}
