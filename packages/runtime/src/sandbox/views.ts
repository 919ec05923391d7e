import type { View } from "./shell.ts";

/** The files of one branch of a workspace, for commands and searches. They may change until a view is taken. */
export interface ViewSource {
  /** Identifies the workspace and the branch; never reused by another workspace. */
  readonly id: string;
  /** The version that was last sent to a sandbox. A sandbox that does not have it says so. */
  sentVersion: number | undefined;
  /** Returns the changes since a version, or all files; of large files only the size. */
  view(since: number | undefined): Promise<View>;
  /** Returns the content of a file at a version. */
  read(path: string, version: number): Promise<string | Uint8Array | undefined>;
}

interface ViewRequest<T> {
  files: ViewSource;
  /** The version that is read, once it is known. */
  reading: { version: number };
  send(view: View): Promise<T>;
  /**
   * Returns the version that the sandbox has instead of the view's base, null if none; undefined if it had the base.
   */
  getStaleVersion(result: T): number | null | undefined;
}

/** Runs something on a view, and sends only what the sandbox does not have yet. */
export async function runWithView<T>({ files, reading, send, getStaleVersion }: ViewRequest<T>): Promise<T> {
  const sendSince = async (base: number | undefined) => {
    const view = await files.view(base);
    reading.version = view.version;
    return send(view);
  };
  let result = await sendSince(files.sentVersion);
  const stale = getStaleVersion(result);
  if (stale !== undefined) result = await sendSince(stale ?? undefined);
  // Another command changed the cached view in between.
  if (stale !== undefined && getStaleVersion(result) !== undefined) result = await sendSince(undefined);
  files.sentVersion = reading.version;
  return result;
}
