import { mainBranch } from "@thinkery/sdk";

/** Where in the files of an agent: at a file or a folder, or in the history of one or of all. */
export interface FilesPlace {
  show: "files" | "history";
  /** Nothing for the whole workspace. */
  path?: string;
  /** Of files: as they were then. Of the history: the version that is looked at. */
  version?: number;
  /** If not on main. */
  branch?: string;
  /** A line to go to. */
  line?: number;
}

/** Reads what is behind an agent's own address; `segments` are decoded. */
export function parseFilesAddress([show, ...names]: string[], query: URLSearchParams): FilesPlace | undefined {
  if (show !== "files" && show !== "history") return undefined;
  const path = names.join("/").normalize("NFC");
  const branch = omitMainBranch(query.get("branch") ?? undefined);
  const version = parseCount(query.get("version"));
  const line = parseCount(query.get("line"));
  return { show, ...(path && { path }), ...(version && { version }), ...(branch && { branch }), ...(line && { line }) };
}

/** The address of such a place, behind the agent's own. */
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
