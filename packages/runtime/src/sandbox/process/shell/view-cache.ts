import type { View, ViewFile } from "../../shell.ts";
import { FileBody } from "./file-body.ts";
import { type Folder, splitPath, Tree } from "./tree.ts";

/** Workspaces, or branches of one, that are cached. */
const maxViews = 4;

/** Total size of fetched file contents that are cached. */
const maxFetchedBytes = 32 * 1024 * 1024;

interface CachedView {
  version: number;
  root: Folder;
}

/** Caches workspaces as they were last sent. Roots are never changed, so a holder can keep using an older one. */
export class ViewCache {
  readonly #views = new Map<string, CachedView>();
  /** Bodies that can be unloaded, oldest first. */
  readonly #fetched = new Set<FileBody>();

  /** Returns the files of a view; or, if its base is not cached, the version that is. */
  open({ id, version, base, files, gone }: View): { root: Folder } | { stale: number | undefined } {
    const before = this.#views.get(id);
    if (base !== undefined && before?.version !== base) return { stale: before?.version };
    const tree = new Tree(base === undefined ? undefined : before?.root);
    for (const path of gone) tree.prune(splitPath(path));
    for (const file of files) addToTree(tree, file);
    this.#views.delete(id);
    this.#views.set(id, { version, root: tree.root });
    for (const oldest of this.#views.keys()) {
      if (this.#views.size <= maxViews) break;
      this.#views.delete(oldest);
    }
    return { root: tree.root };
  }

  /** Notes that a file's content was fetched. */
  trackFetched(body: FileBody): void {
    this.#fetched.add(body);
  }

  /** Unloads the contents that were fetched longest ago. Must not be called while a command runs. */
  trim(): void {
    let bytes = 0;
    for (const body of this.#fetched) bytes += body.size;
    for (const oldest of this.#fetched) {
      if (bytes <= maxFetchedBytes) break;
      bytes -= oldest.size;
      this.#fetched.delete(oldest);
      oldest.unload();
    }
  }
}

function addToTree(tree: Tree, [path, content, mtime = 0]: ViewFile): void {
  const body =
    typeof content === "string" || content instanceof Uint8Array
      ? FileBody.of(content)
      : FileBody.ofRemote(path, content.size, content.binary);
  const names = splitPath(path);
  // A file where a folder is needed now has been deleted in the workspace.
  for (let length = 1; length < names.length; length++)
    if (tree.find(names.slice(0, length))?.kind === "file") tree.remove(names.slice(0, length));
  tree.put(names, { kind: "file", body, mtime });
}
