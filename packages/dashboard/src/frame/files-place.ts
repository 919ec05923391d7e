import { mainBranch } from "@thinkery/sdk";

/** A location in an agent's files: a file or folder, or the history of one or of all files. */
export interface FilesPlace {
  show: "files" | "history";
  /** Undefined for the whole workspace. */
  path?: string;
  /** For files: show them as of this version. For the history: the version to show. */
  version?: number;
  /** Undefined for main. */
  branch?: string;
  /** Line to scroll to. */
  line?: number;
}

/** Parses the part of the path after the agent's own; the segments are decoded. */
export function parseFilesAddress([show, ...names]: string[], query: URLSearchParams): FilesPlace | undefined {
  if (show !== "files" && show !== "history") return undefined;
  const path = names.join("/").normalize("NFC");
  const branch = omitMainBranch(query.get("branch") ?? undefined);
  const version = parseCount(query.get("version"));
  const line = parseCount(query.get("line"));
  return { show, ...(path && { path }), ...(version && { version }), ...(branch && { branch }), ...(line && { line }) };
}

/** Inverse of `parseFilesAddress`: the path to append to the agent's own. */
export function buildFilesAddress({ show, path, version, branch, line }: FilesPlace): string {
  const names = path === undefined ? [] : path.split("/");
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries({ branch: omitMainBranch(branch), version, line }))
    if (value !== undefined) query.set(name, String(value));
  return [`/${show}`, ...names.map(encodeURIComponent)].join("/") + (query.size > 0 ? `?${query}` : "");
}

function omitMainBranch(branch: string | undefined): string | undefined {
  return branch === mainBranch ? undefined : branch;
}

function parseCount(text: string | null): number | undefined {
  return text !== null && /^[1-9]\d{0,14}$/.test(text) ? Number(text) : undefined;
}
