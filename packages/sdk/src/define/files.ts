import type { FileInfo } from "../protocol/file.ts";
import type { Overlap, Version } from "../protocol/version.ts";

/** What is in a file that is kept whole: its bytes are a blob. */
export interface BlobContent {
  blob: string;
  size: number;
  mediaType: string;
}

/** What is in a file: text, or a blob. */
export type FileContent = string | BlobContent;

/** One change to a workspace. Paths are relative to it, as `filePath` gives them. */
export type FileEdit = { write: string; content: FileContent } | { delete: string } | { move: string; to: string };

/** What came of edits that were made on files as they were earlier. */
export interface CommitResponse {
  version?: Version;
  overlaps: Overlap[];
}

/**
 * Turns one text into another, and back. Offsets are in UTF-16 units of the text before, ascending; the pieces do not
 * overlap.
 */
export type TextPatch = readonly (readonly [offset: number, removed: string, inserted: string])[];

/** What came of a commit. */
export interface CommitResult extends CommitResponse {
  /** The first file that is not what `expected` says. Nothing was written. */
  stale?: string;
  /** How each text changed that was there before. */
  patches: { path: string; patch: TextPatch }[];
}

export interface BranchOptions {
  /** The agent's own branch unless given. */
  branch?: string | undefined;
}

export interface FileCommitOptions extends BranchOptions {
  /** Commits only if each of these files has this hash; null if there must be none. */
  expected?: Record<string, string | null>;
  /** The model knows what it writes here, so it may edit it later without reading it first. */
  seen?: boolean;
}

/** A file at one moment. */
export interface FileSnapshot {
  file: FileInfo;
  content: FileContent;
  /** The hash of the file when the model last saw it. */
  seenHash?: string;
}

/**
 * The files of the agent that calls a tool. Every commit is one version with the call as its origin, and everybody who
 * has a file open sees it at once. The files may be stored in another object: read and commit with `expected` rather
 * than to read again before writing.
 */
export interface Files {
  /** Lists all files in a folder and below it, by path. */
  list(options?: BranchOptions & { under?: string | undefined }): Promise<FileInfo[]>;
  stat(path: string, options?: BranchOptions): Promise<FileInfo | undefined>;
  read(path: string, options?: BranchOptions): Promise<FileSnapshot | undefined>;
  /** Fetches the bytes of content that is a blob. */
  readBytes(content: FileContent, path: string): Promise<Uint8Array>;
  /** Stores content that a commit may refer to: short text as text, everything else as a blob. */
  store(content: string | Uint8Array, path: string): Promise<FileContent>;
  /** Commits all edits or none, as one version; there is no version if nothing changed. */
  commit(edits: readonly FileEdit[], options?: FileCommitOptions): Promise<CommitResult>;
  /** Notes that the model has seen the file with this hash. */
  markSeen(path: string, hash: string, options?: BranchOptions): Promise<void>;
}

/** What came of a command. */
export interface ShellResult {
  exitCode: number;
  stdout: string;
  stderr: string;
  /** What is to be known beside it: files that could not be taken over, overlaps. */
  notes: string[];
  version?: Version;
  ms: number;
}

export interface SearchMatch {
  path: string;
  line: number;
  text: string;
  /** Only near to one that was looked for. */
  near?: boolean;
}

export interface SearchRequest {
  /** A regular expression as JavaScript has them. */
  pattern: string;
  under?: string;
  /** Only in files whose path is like this. */
  glob?: string;
  ignoreCase?: boolean;
  /** So many lines before and after each are told too. */
  context?: number;
  limit: number;
}

/** A shell on a view of the workspace, in a sandbox. */
export interface Shell {
  run(command: string, options?: { timeoutMs?: number }): Promise<ShellResult>;
  search(order: SearchRequest): Promise<{ found: SearchMatch[]; more: boolean }>;
}
