import type { View } from "./shell.ts";

/** The files of one branch of a workspace, for commands and searches. They may change until they are sent. */
export interface ViewSource {
  /** Of the workspace and the branch; another workspace never has it. */
  readonly id: string;
  /** The version that a sandbox was sent last. It may have lost it, or be another one: then it says so. */
  sentVersion: number | undefined;
  /** Returns what has changed since a version, or all files as they are now; of large ones only the size. */
  view(since: number | undefined): Promise<View>;
  /** Returns what was in a file at a version. */
  read(path: string, version: number): Promise<string | Uint8Array | undefined>;
}

interface ViewRequest<T> {
  files: ViewSource;
  /** Which version is looked at, once that is known. */
  reading: { version: number };
  ask(view: View): Promise<T>;
  /** Which version the sandbox has in place of the one that it was to have; nothing where it had that. */
  getStaleVersion(answer: T): number | null | undefined;
}

/** Has something done with a view, and sends of it only what is new to the sandbox. */
export async function runWithView<T>({ files, reading, ask, getStaleVersion }: ViewRequest<T>): Promise<T> {
  const look = async (base: number | undefined) => {
    const view = await files.view(base);
    reading.version = view.version;
    return ask(view);
  };
  let answer = await look(files.sentVersion);
  const stale = getStaleVersion(answer);
  if (stale !== undefined) answer = await look(stale ?? undefined);
  // Another command came between.
  if (stale !== undefined && getStaleVersion(answer) !== undefined) answer = await look(undefined);
  files.sentVersion = reading.version;
  return answer;
}
