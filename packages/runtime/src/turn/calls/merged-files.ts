import type { FileInfo } from "@thinkery/sdk";
import type { LinuxCopyFiles } from "../../sandbox/linux-files.ts";
import type { View } from "../../sandbox/shell.ts";
import type { ViewSource } from "../../sandbox/views.ts";
import type { MergePreview } from "../../workspace/branch-merge.ts";
import type { WorkspaceChanges, WorkspacePort } from "../../workspace/workspace-port.ts";
import { maxSentBytes, toViewFile } from "./shell-files.ts";

type ChangedFile = MergePreview["files"][number];

/** The files that a branch would have after a merge. They are stored nowhere. */
export class MergedFiles implements ViewSource {
  readonly id = crypto.randomUUID();
  sentVersion: number | undefined;
  readonly #workspace: WorkspacePort;
  readonly #preview: MergePreview;
  readonly #changed: ReadonlyMap<string, ChangedFile>;
  #current: WorkspaceChanges;

  private constructor(workspace: WorkspacePort, preview: MergePreview, current: WorkspaceChanges) {
    this.#workspace = workspace;
    this.#preview = preview;
    this.#changed = new Map(preview.files.map((file) => [file.path, file]));
    this.#current = current;
  }

  /** Returns undefined if the branch has changed since the preview. */
  static async open(workspace: WorkspacePort, preview: MergePreview): Promise<MergedFiles | undefined> {
    const current = await workspace.changes({ branch: preview.into, maxTextBytes: maxSentBytes });
    return current.version === preview.versions.target ? new MergedFiles(workspace, preview, current) : undefined;
  }

  async view(): Promise<View> {
    const { version, files } = this.#current;
    const unchanged = files.filter(({ file: { path } }) => !this.#changed.has(path));
    const changed = [...this.#changed.values()].flatMap(({ path, after }) => {
      if (!after) return [];
      const { content, info } = after;
      const file: FileInfo = {
        ...info,
        path,
        kind: typeof content === "string" ? "text" : "binary",
        version,
        modifiedAt: new Date(0).toISOString(),
      };
      return [toViewFile(file, typeof content === "string" ? content : undefined)];
    });
    const sent = [...unchanged.map(({ file, text }) => toViewFile(file, text)), ...changed];
    return { id: this.id, version, files: sent, gone: [] };
  }

  async read(path: string): Promise<string | Uint8Array | undefined> {
    const content = await this.#readContent(path);
    return content === undefined || typeof content === "string" ? content : this.#workspace.readBytes(content, path);
  }

  /** The same files, for the Linux sandbox. */
  toCopy(): LinuxCopyFiles {
    const unchanged = this.#current.files.flatMap(({ file }) => (this.#changed.has(file.path) ? [] : [file]));
    const changed = [...this.#changed.values()].flatMap(({ path, after }) =>
      after ? [{ path, hash: after.info.hash }] : [],
    );
    return {
      version: this.#current.version,
      files: [...unchanged, ...changed],
      readContent: async (path) => {
        const content = await this.#readContent(path);
        return content === undefined ? undefined : this.#workspace.readBytes(content, path);
      },
    };
  }

  async #readContent(path: string) {
    const changed = this.#changed.get(path);
    if (changed) return changed.after?.content;
    const { into, versions } = this.#preview;
    return (await this.#workspace.read(path, { branch: into, version: versions.target }))?.content;
  }
}
