import type { FileInfo } from "@thinkery/sdk";
import type { ShellState, View, ViewFile } from "../../sandbox/shell.ts";
import type { ViewSource } from "../../sandbox/views.ts";
import type { WorkspacePort } from "../../workspace/workspace-port.ts";

/** So much text goes along with a view, the smallest files first; the contents of others are asked for when read. */
const maxSentBytes = 4 * 1024 * 1024;

/** One branch of the workspace as commands and searches see it, and where the agent's shell stands in it. */
export class ShellFiles implements ViewSource {
  /** A new one for each life of the object, or another object of its name would be taken for this one. */
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

  /** Returns where the shell was left in this turn. A turn that a crash interrupted goes on in a new shell. */
  getShellState(runId: string): ShellState | undefined {
    return this.#shell?.runId === runId ? this.#shell.state : undefined;
  }

  keepShellState(runId: string, state: ShellState): void {
    this.#shell = { runId, state };
  }
}

/** No search finds anything in these. Text that is too large to be merged is stored like a picture, but it is text. */
const binaryTypes = /^(?:image\/(?!svg)|audio\/|video\/|font\/|application\/(?:octet-stream|pdf|zip|gzip|x-tar|wasm)$)/;

function toViewFile({ path, size, kind, mediaType, modifiedAt }: FileInfo, text: string | undefined): ViewFile {
  const modified = Date.parse(modifiedAt);
  if (text !== undefined) return [path, text, modified];
  return [path, { size, ...(kind === "binary" && binaryTypes.test(mediaType) ? { binary: true } : {}) }, modified];
}
