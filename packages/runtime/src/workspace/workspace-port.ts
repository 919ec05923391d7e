import type { CommitResult, FileContent, FileEdit, FileInfo, FileSnapshot, NewEvent, Origin } from "@thinkery/sdk";
import type { WorkspaceLimits } from "@thinkery/sdk/internal";
import type { VersionRef } from "./workspace.ts";

/** Describes a commit, in values that can be sent to another object. */
export interface CommitRequest {
  edits: readonly FileEdit[];
  origin: Origin;
  branch?: string | undefined;
  /** Commits only if each of these files has this hash; null if there must be none. */
  expected?: Record<string, string | null> | undefined;
  /** The edits were made on the files as of this version: what others changed since then is merged with them. */
  base?: number | undefined;
  /** With `base`: leaves out edits that are impossible by now, and commits the others. */
  partial?: boolean | undefined;
  /** The same key twice is the same commit, so one whose answer was lost can be sent again. */
  key?: string | undefined;
  /** The model knows what is written here. */
  seen?: boolean | undefined;
}

export interface LocalCommitOptions {
  /** Records the commit's event among those of a running call. Ignored if another object owns the files. */
  record?(event: NewEvent): void;
}

/** What has changed since a version that a reader has: all files if it has none, or one that is not kept any more. */
export interface WorkspaceChanges {
  version: number;
  /** The version that the changes lead from; absent if `files` is everything. */
  base?: number;
  files: { file: FileInfo; text?: string }[];
  deleted: string[];
}

export interface ChangesQuery {
  since?: number | undefined;
  branch?: string | undefined;
  /** So many bytes of text come along, of the smallest files first. */
  maxTextBytes: number;
}

/**
 * An agent's files, wherever they are stored: in its own object (`LocalWorkspace`) or in the one of the agent that it
 * works for (`RemoteWorkspace`). All values can be cloned, every method is one round trip, and nothing depends on a
 * read that came before it: a commit says what it expects.
 */
export interface WorkspacePort {
  readonly limits: WorkspaceLimits;
  /** Whether it is stored in this object: then a commit and the events that are written with it are one transaction. */
  readonly isLocal: boolean;
  /** Returns the latest version of a branch; 0 if nothing was ever committed. */
  latest(branch?: string): Promise<number>;
  list(query?: VersionRef & { under?: string | undefined }): Promise<{ files: FileInfo[]; version: number }>;
  stat(path: string, at?: VersionRef): Promise<FileInfo | undefined>;
  read(path: string, at?: VersionRef): Promise<FileSnapshot | undefined>;
  /** Returns the bytes of content; of text, its encoding. */
  readBytes(content: FileContent, path: string): Promise<Uint8Array>;
  /** Stores content for a commit: short text stays text, everything else becomes a blob. */
  store(content: string | Uint8Array, path: string): Promise<FileContent>;
  commit(request: CommitRequest, options?: LocalCommitOptions): Promise<CommitResult>;
  changes(query: ChangesQuery): Promise<WorkspaceChanges>;
  markSeen(path: string, hash: string, branch?: string): Promise<void>;
}
