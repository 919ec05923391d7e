import type { View, ViewFile } from "./shell.ts";

/** The files of one branch of a workspace, for commands and searches. They may change until they are sent. */
export interface ViewSource {
  /** Of the workspace and the branch; another workspace never has it. */
  readonly id: string;
  /** The version that the files are at now. */
  latest(): number;
  /** All files as they are now; of large ones only the size. */
  whole(): readonly ViewFile[];
  /** What has changed since an earlier version; nothing where that is not known. */
  since(version: number): { files: readonly ViewFile[]; gone: readonly string[] } | undefined;
  /** What was in a file at a version. */
  read(path: string, version: number): Promise<string | Uint8Array | undefined>;
}

const mostRemembered = 1000;

/** Which version a sandbox was told last, by workspace. It may have forgotten it: then it says so. */
const sent = new Map<string, number>();

interface Asking<T> {
  files: ViewSource;
  /** Which version is looked at, once that is known. */
  reading: { version: number };
  ask(view: View): Promise<T>;
  /** Which version the sandbox has in place of the one that it was to have; nothing where it had that. */
  staleOf(answer: T): number | null | undefined;
}

/** Has something done with a view, and sends of it only what is new to the sandbox. */
export async function withView<T>({ files, reading, ask, staleOf }: Asking<T>): Promise<T> {
  const look = (base: number | undefined) => {
    const view = viewSince(files, base);
    reading.version = view.version;
    return ask(view);
  };
  let answer = await look(sent.get(files.id));
  const stale = staleOf(answer);
  if (stale !== undefined) answer = await look(stale ?? undefined);
  // Another command came between.
  if (stale !== undefined && staleOf(answer) !== undefined) answer = await look(undefined);
  sent.delete(files.id);
  sent.set(files.id, reading.version);
  for (const oldest of sent.keys()) {
    if (sent.size <= mostRemembered) break;
    sent.delete(oldest);
  }
  return answer;
}

function viewSince(files: ViewSource, base: number | undefined): View {
  const { id } = files;
  const version = files.latest();
  if (base === version) return { id, version, base, files: [], gone: [] };
  const change = base === undefined ? undefined : files.since(base);
  return change && base !== undefined ? { id, version, base, ...change } : { id, version, files: files.whole(), gone: [] };
}
