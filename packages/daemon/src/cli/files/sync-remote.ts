import type { Overlap } from "@thinkery/sdk";

export type RemoteEdit = { write: string; bytes: Uint8Array } | { delete: string } | { move: string; to: string };

/** The remote side of a mirror: a workspace. */
export interface Remote {
  /** Lists all files at one version. `workspace` identifies the workspace, even if another one replaced it. */
  list(): Promise<{ workspace: string; version: number; files: readonly { path: string; hash: string }[] }>;
  get(path: string): Promise<Uint8Array>;
  /** Writes a file; throws `precondition_failed` if it is not in the expected state. */
  put(path: string, bytes: Uint8Array, condition: { ifMatch: string } | { isNew: true }): Promise<void>;
  /** Applies small edits, based on a version, as one new version. Later changes survive. */
  edit(edits: readonly RemoteEdit[], base: number): Promise<{ overlaps: Overlap[] }>;
  /** Calls `onChange` whenever something may have changed, until the signal aborts. */
  watch(onChange: () => void, signal: AbortSignal): Promise<void>;
}
