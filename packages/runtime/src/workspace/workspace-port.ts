import type {
  Branch,
  CommitResult,
  FileContent,
  FileEdit,
  FileInfo,
  FileSnapshot,
  Merge,
  NewEvent,
  Origin,
} from "@thinkery/sdk";
import type { WorkspaceLimits } from "@thinkery/sdk/internal";
import type { BranchMerge, BranchMergeOptions, MergePreview } from "./branch-merge.ts";
import type { VersionRef } from "./workspace.ts";

/** Describes a commit, in values that can be sent to another object. */
export interface CommitRequest {
  edits: readonly FileEdit[];
  origin: Origin;
  branch?: string | undefined;
  /** Commits only if each of these files has this hash; null if the file must not exist. */
  expected?: Record<string, string | null> | undefined;
  /** The version the edits were made on: they are merged with what others have changed since. */
  base?: number | undefined;
  /** With `base`: drops edits that are no longer possible and commits the others. */
  partial?: boolean | undefined;
  /** Idempotency key, so that a commit whose response was lost can be sent again. */
  key?: string | undefined;
  /** Marks the written files as seen by the model. */
  seen?: boolean | undefined;
}

export interface LocalCommitOptions {
  /** Records the commit's event among those of a running call. Ignored if another object owns the files. */
  record?(event: NewEvent): void;
}

/** The changes since a reader's version; all files if it has none, or one that is no longer available. */
export interface WorkspaceChanges {
  version: number;
  /** The version the changes are relative to; absent if `files` lists everything. */
  base?: number;
  files: { file: FileInfo; text?: string }[];
  deleted: string[];
}

export interface ChangesQuery {
  since?: number | undefined;
  branch?: string | undefined;
  /** Maximum bytes of text to include, smallest files first. */
  maxTextBytes: number;
}

export type MergeRequest = Omit<BranchMergeOptions, "record"> & Pick<Merge, "into">;

/**
 * An agent's files, wherever they are stored: in its own object (`LocalWorkspace`) or in that of the agent it works for
 * (`RemoteWorkspace`). All values can be cloned, every method is one round trip, and no method depends on an earlier
 * read: a commit says what it expects.
 */
export interface WorkspacePort {
  readonly limits: WorkspaceLimits;
  /** Whether the files are stored in this object: then a commit and its events are one transaction. */
  readonly isLocal: boolean;
  /** Returns the latest version of a branch; 0 if nothing was ever committed. */
  latest(branch?: string): Promise<number>;
  list(query?: VersionRef & { under?: string | undefined }): Promise<{ files: FileInfo[]; version: number }>;
  stat(path: string, at?: VersionRef): Promise<FileInfo | undefined>;
  read(path: string, at?: VersionRef): Promise<FileSnapshot | undefined>;
  /** Returns the bytes of content; text is encoded as UTF-8. */
  readBytes(content: FileContent, path: string): Promise<Uint8Array>;
  /** Stores content for a commit: short text stays text, everything else becomes a blob. */
  store(content: string | Uint8Array, path: string): Promise<FileContent>;
  commit(request: CommitRequest, options?: LocalCommitOptions): Promise<CommitResult>;
  changes(query: ChangesQuery): Promise<WorkspaceChanges>;
  markSeen(path: string, hash: string, branch?: string): Promise<void>;
  listBranches(): Promise<Branch[]>;
  /** Creates a branch of the latest version of another. One with the same name and origin is the same branch. */
  createBranch(branch: { name: string; from?: string | undefined }, origin: Origin): Promise<Branch>;
  /** Removes a branch, if it exists. */
  removeBranch(name: string, origin: Origin): Promise<void>;
  /** Returns what a merge would change, with the content. */
  previewMerge(name: string, into?: string): Promise<MergePreview>;
  /** Merges a branch into its parent, or its parent into it. The same key again returns the same result. */
  merge(name: string, request: MergeRequest, origin: Origin): Promise<BranchMerge>;
}
