import { createHash } from "node:crypto";
import { isThinkeryError, type Overlap } from "@thinkery/sdk";
import { type FileState, isFresh, isSameState } from "../../folder/file-state.ts";
import { removeContent, writeContent } from "../../folder/write.ts";
import { conflictPath, type Decision, decided } from "./sync-decision.ts";
import type { Found, LocalSide } from "./sync-local.ts";
import type { Remote, RemoteEdit } from "./sync-remote.ts";
import type { SyncState } from "./sync-state.ts";

export interface SyncEvent {
  did: "sent" | "fetched" | "removed here" | "removed there" | "conflict" | "kept" | "left";
  path: string;
  /** Where the other file is. */
  beside?: string;
  why?: string;
}

/** Files up to this size go in batches, which are one version each. */
const small = 256 * 1024;
const mostInBatch = { edits: 500, bytes: 3 * 1024 * 1024 };

export type Plan = { path: string; decision: Decision }[];

interface RoundOptions {
  folder: string;
  remote: Remote;
  onEvent(event: SyncEvent): void;
  local: LocalSide;
  refused: Map<string, string>;
  found: Found;
  there: Map<string, string>;
  version: number;
  state: SyncState;
}

/** One pass over all files. */
export class Round {
  readonly #options: RoundOptions;
  #batch: RemoteEdit[] = [];
  #batchBytes = 0;
  isComplete = true;
  /** Is there something to be remembered that was not before? */
  hasLearned = false;

  constructor(options: RoundOptions) {
    this.#options = options;
  }

  plan(): Plan {
    const { found, there, state } = this.#options;
    if (found.moving.size > 0) this.isComplete = [...found.moving].every((path) => found.untaken.some((one) => one.path === path));
    const plan: Plan = [];
    for (const path of [...new Set([...found.local.keys(), ...there.keys(), ...state.files.keys()])].sort()) {
      if (found.moving.has(path) || found.isHidden(path) || found.ignores(path)) continue;
      const here = found.local.get(path)?.hash;
      const decision = decided(here, there.get(path), state.files.get(path)?.hash);
      if (decision === "agreed") this.#agree(path, here);
      else if (this.#options.refused.get(path) !== `${here}:${there.get(path)}`) plan.push({ path, decision });
    }
    // What is ignored has to be known before anything else comes.
    const rules = plan.filter(({ path, decision }) => decision === "fetch" && /(?:^|\/)\.gitignore$/.test(path));
    if (rules.length > 0) this.isComplete = false;
    return rules.length > 0 ? rules : plan;
  }

  async carryOut(plan: Plan): Promise<void> {
    const of = (...decisions: Decision[]) => plan.filter(({ decision }) => decisions.includes(decision));
    // What goes makes room: a folder may come where a file was.
    for (const { path } of of("removeHere")) this.#removeHere(path);
    for (const { path } of of("removeThere")) await this.#add({ delete: path });
    await this.#flush();
    for (const { path } of of("both")) await this.#keepBoth(path);
    for (const { path } of of("fetch")) await this.#fetch(path);
    for (const { path } of of("send")) await this.#send(path);
    await this.#flush();
  }

  #agree(path: string, hash: string | undefined): void {
    const { found } = this.#options;
    const state = found.local.get(path)?.state;
    this.#know(path, hash, state && !isFresh(state, found.at) ? state : undefined);
  }

  /** Both sides have this now. */
  #know(path: string, hash: string | undefined, state?: FileState): void {
    const { files } = this.#options.state;
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
    if (removed === "removed") {
      this.#know(path, undefined);
      onEvent({ did: "removed here", path });
    } else this.#later(path, removed);
  }

  async #fetch(path: string): Promise<void> {
    const { folder, found, there, state, onEvent } = this.#options;
    const hash = there.get(path) as string;
    const local = found.local.get(path);
    const bytes = await this.#remoteBytes(path, hash);
    if (!bytes) return;
    const written = writeContent(folder, path, bytes, { expected: local?.state });
    if (written === "changed" || "refused" in written) return this.#later(path, written);
    const wasDeleted = !local && state.files.has(path);
    this.#options.local.wrote(path, written.state);
    this.#know(path, hash);
    onEvent(wasDeleted ? { did: "kept", path, why: "it was deleted here and changed there" } : { did: "fetched", path });
  }

  async #send(path: string): Promise<void> {
    const { found, there, local, remote } = this.#options;
    const { hash } = found.local.get(path) as { hash: string };
    const bytes = await local.bytes(path, hash);
    if (!bytes) return this.#later(path);
    if (bytes.length <= small) return this.#add({ write: path, bytes });
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
      const written = writeContent(folder, beside, other, { expected: undefined });
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

  async #add(edit: RemoteEdit): Promise<void> {
    this.#batch.push(edit);
    this.#batchBytes += "write" in edit ? edit.bytes.length : 0;
    if (this.#batch.length >= mostInBatch.edits || this.#batchBytes >= mostInBatch.bytes) await this.#flush();
  }

  async #flush(): Promise<void> {
    const batch = this.#batch;
    this.#batch = [];
    this.#batchBytes = 0;
    if (batch.length === 0) return;
    try {
      await this.#sendAll(batch);
    } catch (error) {
      if (!isRefusal(error)) throw error;
      // One of them is to blame, and the others should not suffer for it.
      for (const edit of batch) await this.#attempt(pathOf(edit), () => this.#sendAll([edit]), () => {});
    }
  }

  async #sendAll(edits: readonly RemoteEdit[]): Promise<void> {
    const { remote, version, found, onEvent } = this.#options;
    const { overlaps } = await remote.edit(edits, version);
    for (const edit of edits) {
      const path = pathOf(edit);
      if ("delete" in edit) {
        this.#know(path, undefined);
        onEvent({ did: "removed there", path });
      } else {
        this.#sent(path, found.local.get(path)?.hash as string);
        this.#know(path, found.local.get(path)?.hash as string);
      }
    }
    for (const overlap of overlaps) this.#overlapped(overlap);
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
      if (isThinkeryError(error) && error.code === "precondition_failed") return this.#later(path);
      return this.#later(path, { refused: (error as Error).message });
    }
    done();
  }

  /** It was not done. Either it is tried again, or it cannot be, until one side changes. */
  #later(path: string, why: "changed" | { refused: string } = "changed"): void {
    const { found, there, refused, onEvent } = this.#options;
    if (why === "changed") {
      this.isComplete = false;
      return;
    }
    refused.set(path, `${found.local.get(path)?.hash}:${there.get(path)}`);
    onEvent({ did: "left", path, why: why.refused });
  }
}

function pathOf(edit: RemoteEdit): string {
  return "write" in edit ? edit.write : edit.delete;
}

/** The host has understood, and says no to just this. */
function isRefusal(error: unknown): boolean {
  return isThinkeryError(error) && ["bad_request", "conflict", "too_large", "precondition_failed"].includes(error.code);
}
