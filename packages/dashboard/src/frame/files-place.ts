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

/** Parses the part of the path after that of the agent or agency; the segments are decoded. */
function parsePlace(show: FilesPlace["show"], names: string[], query: URLSearchParams): FilesPlace {
  const path = names.join("/").normalize("NFC");
  const branch = omitMainBranch(query.get("branch") ?? undefined);
  const version = parseCount(query.get("version"));
  const line = parseCount(query.get("line"));
  return { show, ...(path && { path }), ...(version && { version }), ...(branch && { branch }), ...(line && { line }) };
}

/** Inverse of `parsePlace`. */
function buildPlace(segment: string, { path, version, branch, line }: FilesPlace): string {
  const names = path === undefined ? [] : path.split("/");
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries({ branch: omitMainBranch(branch), version, line }))
    if (value !== undefined) query.set(name, String(value));
  return [`/${segment}`, ...names.map(encodeURIComponent)].join("/") + (query.size > 0 ? `?${query}` : "");
}

function createFilesAddress(segments: Record<FilesPlace["show"], string>) {
  return {
    segments: [segments.files, segments.history],
    initial: { show: "files" } satisfies FilesPlace as FilesPlace,
    parse([first, ...names]: string[], query: URLSearchParams): FilesPlace | undefined {
      const show = (["files", "history"] as const).find((one) => segments[one] === first);
      return show && parsePlace(show, names, query);
    },
    build: (place: FilesPlace) => buildPlace(segments[place.show], place),
  };
}

/** Addresses in an agent's files, below that of the agent. */
export const filesAddress = createFilesAddress({ files: "files", history: "history" });

/** Addresses in the documents of an agency, below that of the agency. */
export const documentsAddress = createFilesAddress({ files: "~documents", history: "~history" });

function omitMainBranch(branch: string | undefined): string | undefined {
  return branch === mainBranch ? undefined : branch;
}

function parseCount(text: string | null): number | undefined {
  return text !== null && /^[1-9]\d{0,14}$/.test(text) ? Number(text) : undefined;
}
