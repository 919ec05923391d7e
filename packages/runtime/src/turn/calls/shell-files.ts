import type { FileInfo } from "@thinkery/sdk";
import type { ShellState, View, ViewFile } from "../../sandbox/shell.ts";
import type { ViewSource } from "../../sandbox/views.ts";
import type { WorkspacePort } from "../../workspace/workspace-port.ts";

/** Text sent along with a view, smallest files first; the content of other files is fetched when it is read. */
export const maxSentBytes = 4 * 1024 * 1024;

/** One branch of the workspace as commands and searches see it, and the state of the agent's shell in it. */
export class ShellFiles implements ViewSource {
  /** New whenever the object is loaded, so that another object of the same name is never mistaken for this one. */
  readonly id = crypto.randomUUID();
  sentVersion: number | undefined;
  readonly #workspace: WorkspacePort;
  readonly #branch: string | undefined;
  #shell: { runId: string; state: ShellState } | undefined;

  constructor(workspace: WorkspacePort, branch?: string) {
    this.#workspace = workspace;
    this.#branch = branch;
  }

  async view(since: number | undefined): Promise<View> {
    const { version, base, files, deleted } = await this.#workspace.changes({
      since,
      branch: this.#branch,
      maxTextBytes: maxSentBytes,
    });
    const sent = files.map(({ file, text }) => toViewFile(file, text));
    return { id: this.id, version, ...(base === undefined ? {} : { base }), files: sent, gone: deleted };
  }

  async read(path: string, version: number): Promise<string | Uint8Array | undefined> {
    const found = await this.#workspace.read(path, { branch: this.#branch, version });
    if (!found) return undefined;
    return typeof found.content === "string" ? found.content : this.#workspace.readBytes(found.content, path);
  }

  /** Returns the state in which this turn left its shell. After a crash, a turn continues in a new shell. */
  getShellState(runId: string): ShellState | undefined {
    return this.#shell?.runId === runId ? this.#shell.state : undefined;
  }

  keepShellState(runId: string, state: ShellState): void {
    this.#shell = { runId, state };
  }
}

/** Types that searches skip. A file's kind is not enough: text that is too large to merge is stored as binary too. */
const binaryTypes = /^(?:image\/(?!svg)|audio\/|video\/|font\/|application\/(?:octet-stream|pdf|zip|gzip|x-tar|wasm)$)/;

export function toViewFile({ path, size, kind, mediaType, modifiedAt }: FileInfo, text: string | undefined): ViewFile {
  const modified = Date.parse(modifiedAt);
  if (text !== undefined) return [path, text, modified];
  return [path, { size, ...(kind === "binary" && binaryTypes.test(mediaType) ? { binary: true } : {}) }, modified];
}
