import { type FSWatcher, watch } from "node:fs";
import { join } from "node:path";
import { isDraft } from "../../folder/write.ts";

/** On these platforms one watcher covers all subfolders. On Linux, Node would watch every folder, even ignored ones. */
const isRecursive = process.platform === "darwin" || process.platform === "win32";

/** Reports that something changed in a folder, without saying what. */
export class FolderWatch {
  readonly #root: string;
  readonly #onChange: () => void;
  readonly #watches = new Map<string, FSWatcher>();
  /** Whether the system limit of watchers is reached, so that changes must be polled. */
  isBlind = false;

  constructor(root: string, onChange: () => void) {
    this.#root = root;
    this.#onChange = onChange;
  }

  /** Sets the watched folders. Returns true if one was added, in which something may already have changed. */
  setFolders(folders: readonly string[]): boolean {
    const wanted = new Set(isRecursive ? [""] : folders);
    for (const [folder, watcher] of this.#watches) if (!wanted.has(folder)) this.#close(folder, watcher);
    const added = [...wanted].filter((folder) => !this.#watches.has(folder));
    this.isBlind = !added.map((folder) => this.#watch(folder)).every(Boolean);
    return added.length > 0 && !this.isBlind;
  }

  close(): void {
    for (const [folder, watcher] of this.#watches) this.#close(folder, watcher);
  }

  #watch(folder: string): boolean {
    try {
      const watcher = watch(join(this.#root, folder), { recursive: isRecursive }, (kind, name) =>
        this.#handleEvent(folder, kind, name ?? ""),
      );
      watcher.on("error", () => {
        this.#close(folder, watcher);
        this.#onChange();
      });
      this.#watches.set(folder, watcher);
      return true;
    } catch (error) {
      // A deleted folder needs no watcher; any other error means that the limit of watchers is reached.
      return (error as NodeJS.ErrnoException).code === "ENOENT";
    }
  }

  #handleEvent(folder: string, kind: string, name: string): void {
    if (isDraft(name.slice(name.lastIndexOf("/") + 1))) return;
    if (kind === "rename" && !isRecursive) this.#forget(folder === "" ? name : `${folder}/${name}`);
    this.#onChange();
  }

  /** Stops watching a path that may now be a different folder with the same name. */
  #forget(path: string): void {
    for (const [folder, watcher] of this.#watches)
      if (folder === path || folder.startsWith(`${path}/`)) this.#close(folder, watcher);
  }

  #close(folder: string, watcher: FSWatcher): void {
    watcher.close();
    this.#watches.delete(folder);
  }
}
