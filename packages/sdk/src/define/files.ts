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
export interface Landed {
  version?: Version;
  overlaps: Overlap[];
}

/**
 * The files of the agent whose tool asks. What is written here is one version with the call as its origin, and
 * everybody who has a file open sees it at once.
 */
export interface Files {
  /** All files in a folder and below it, by path. */
  list(under?: string): FileInfo[];
  stat(path: string): FileInfo | undefined;
  content(path: string): FileContent | undefined;
  /** A file's text; nothing where there is none, or none that is text. A big text is in a blob, so it may have to be fetched. */
  text(path: string): Promise<string | undefined>;
  bytes(path: string): Promise<Uint8Array | undefined>;
  /** Content as it is kept: short text as text, everything else as a blob. */
  keep(content: string | Uint8Array, path: string): FileContent | Promise<FileContent>;
  /** All of these or none, as one version; nothing where nothing is other than it was. */
  commit(edits: readonly FileEdit[]): Version | undefined;
  /** The hash of the file when the model last saw it. */
  seen(path: string): string | undefined;
  /** The model has seen the file as it is now. */
  see(path: string): void;
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

export interface Found {
  path: string;
  line: number;
  text: string;
  /** Only near to one that was looked for. */
  near?: boolean;
}

export interface SearchOrder {
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
  search(order: SearchOrder): Promise<{ found: Found[]; more: boolean }>;
}
