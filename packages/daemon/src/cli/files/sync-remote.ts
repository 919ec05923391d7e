import type { Overlap } from "@thinkery/sdk";

export type RemoteEdit = { write: string; bytes: Uint8Array } | { delete: string } | { move: string; to: string };

/** A workspace, as a folder is mirrored with it. */
export interface Remote {
  /** All files as of a version. `workspace` tells it from another one that has come in its place. */
  list(): Promise<{ workspace: string; version: number; files: readonly { path: string; hash: string }[] }>;
  get(path: string): Promise<Uint8Array>;
  /** One file, if it is still what we think; `precondition_failed` is thrown otherwise. */
  put(path: string, bytes: Uint8Array, condition: { ifMatch: string } | { isNew: true }): Promise<void>;
  /** Several small changes as one version, to the files as they were at a version; what was changed since survives. */
  edit(edits: readonly RemoteEdit[], base: number): Promise<{ overlaps: Overlap[] }>;
  /** Calls back whenever something may have changed there, until the signal fires. */
  watch(onChange: () => void, signal: AbortSignal): Promise<void>;
}
