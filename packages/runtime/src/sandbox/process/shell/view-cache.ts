import type { View, ViewFile } from "../../shell.ts";
import { FileBody } from "./file-body.ts";
import { type Folder, splitPath, Tree } from "./tree.ts";

/** As many workspaces, or branches of one, are remembered. */
const maxViews = 4;

/** What is remembered of files that were asked for, in bytes. */
const maxFetchedBytes = 32 * 1024 * 1024;

interface CachedView {
  version: number;
  root: Folder;
}

/** What a workspace looked like when it was last sent. Who holds a root keeps it as it is, whatever comes after. */
export class ViewCache {
  readonly #views = new Map<string, CachedView>();
  /** Those that can be forgotten again, the oldest first. */
  readonly #fetched = new Set<FileBody>();

  /** The files of a view; or, where it is told as a change of one that is not here, which version is. */
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

  /** A file's content has been asked for, and came. */
  trackFetched(body: FileBody): void {
    this.#fetched.add(body);
  }

  /** Gives up what was asked for longest ago. Nobody may be reading meanwhile. */
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
  // Where a folder was, the files in it are gone by now.
  for (let length = 1; length < names.length; length++)
    if (tree.find(names.slice(0, length))?.kind === "file") tree.remove(names.slice(0, length));
  tree.put(names, { kind: "file", body, mtime });
}
