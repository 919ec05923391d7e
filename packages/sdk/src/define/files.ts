import type { FileInfo } from "../protocol/file.ts";
import type { Overlap, Version } from "../protocol/version.ts";

/** A reference to content that is stored as a blob. */
export interface BlobContent {
  blob: string;
  size: number;
  mediaType: string;
}

/** The content of a file: text, or a reference to a blob. */
export type FileContent = string | BlobContent;

/** One change to a workspace. Paths are relative to it, as `parseFilePath` returns them. */
export type FileEdit = { write: string; content: FileContent } | { delete: string } | { move: string; to: string };

/** The result of edits that were based on an earlier version of the files. */
export interface CommitResponse {
  version?: Version;
  overlaps: Overlap[];
}

/**
 * Turns one text into another, and back. Offsets are in UTF-16 code units of the text before the change and ascending;
 * the ranges do not overlap.
 */
export type TextPatch = readonly (readonly [offset: number, removed: string, inserted: string])[];

/** The result of a commit. */
export interface CommitResult extends CommitResponse {
  /** The first file that does not match `expected`. If set, nothing was written. */
  stale?: string;
  /** How each text file that existed before was changed. */
  patches: { path: string; patch: TextPatch }[];
}

export interface BranchOptions {
  /** Defaults to the agent's own branch. */
  branch?: string | undefined;
}

export interface FileCommitOptions extends BranchOptions {
  /** Commits only if each of these files has this hash. Null means that the file must not exist. */
  expected?: Record<string, string | null>;
  /** Marks the written files as seen by the model, so that it may edit them later without reading them first. */
  seen?: boolean;
}

/** A file at one point in time. */
export interface FileSnapshot {
  file: FileInfo;
  content: FileContent;
  /** The hash of the file when the model last saw it. */
  seenHash?: string;
}

/**
 * The workspace of the agent that called the tool. Every commit creates one version with the call as its origin, and
 * everyone who has a file open sees the change at once. The files may be stored in another object, so each method may
 * be a remote call: read once and commit with `expected` instead of reading again before writing.
 */
export interface Files {
  /** Lists all files in a folder and its subfolders, sorted by path. */
  list(options?: BranchOptions & { under?: string | undefined }): Promise<FileInfo[]>;
  stat(path: string, options?: BranchOptions): Promise<FileInfo | undefined>;
  read(path: string, options?: BranchOptions): Promise<FileSnapshot | undefined>;
  /** Fetches the bytes of content that is a blob. */
  readBytes(content: FileContent, path: string): Promise<Uint8Array>;
  /** Stores content for a later commit: short text as text, everything else as a blob. */
  store(content: string | Uint8Array, path: string): Promise<FileContent>;
  /** Commits all edits or none, as one version. Creates no version if nothing changed. */
  commit(edits: readonly FileEdit[], options?: FileCommitOptions): Promise<CommitResult>;
  /** Records that the model has seen the file with this hash. */
  markSeen(path: string, hash: string, options?: BranchOptions): Promise<void>;
}

/** The result of a shell command. */
export interface ShellResult {
  exitCode: number;
  stdout: string;
  stderr: string;
  /** Anything else the caller should know: files that could not be committed, conflicts. */
  notes: string[];
  version?: Version;
  ms: number;
}

export interface SearchMatch {
  path: string;
  line: number;
  text: string;
  /** True for a context line: it does not match itself, but is near a line that does. */
  near?: boolean;
}

export interface SearchRequest {
  /** A JavaScript regular expression. */
  pattern: string;
  under?: string;
  /** Searches only files whose path matches this glob. */
  glob?: string;
  ignoreCase?: boolean;
  /** Number of context lines to return before and after each match. */
  context?: number;
  limit: number;
}

/** A shell in a sandbox that works on a view of the workspace. */
export interface Shell {
  run(command: string, options?: { timeoutMs?: number }): Promise<ShellResult>;
  search(request: SearchRequest): Promise<{ found: SearchMatch[]; more: boolean }>;
}
