import { type FSWatcher, watch } from "node:fs";
import { join } from "node:path";
import { isDraft } from "../../folder/write.ts";

/** Where one watch sees everything below it. On Linux, Node would look into every folder, the ignored ones too. */
const isRecursive = process.platform === "darwin" || process.platform === "win32";

/** Says that something has changed in a folder. What it was has to be looked at. */
export class FolderWatch {
  readonly #root: string;
  readonly #onChange: () => void;
  readonly #watches = new Map<string, FSWatcher>();
  /** The system watches no more, and one has to look by oneself. */
  isBlind = false;

  constructor(root: string, onChange: () => void) {
    this.#root = root;
    this.#onChange = onChange;
  }

  /** Watches just these folders from now on. True where one was added: something may have changed there just before. */
  setFolders(folders: readonly string[]): boolean {
    const wanted = new Set(isRecursive ? [""] : folders);
    for (const [folder, watcher] of this.#watches) if (!wanted.has(folder)) this.#end(folder, watcher);
    const fresh = [...wanted].filter((folder) => !this.#watches.has(folder));
    this.isBlind = !fresh.map((folder) => this.#watch(folder)).every(Boolean);
    return fresh.length > 0 && !this.isBlind;
  }

  close(): void {
    for (const [folder, watcher] of this.#watches) this.#end(folder, watcher);
  }

  #watch(folder: string): boolean {
    try {
      const watcher = watch(join(this.#root, folder), { recursive: isRecursive }, (kind, name) =>
        this.#handleEvent(folder, kind, name ?? ""),
      );
      watcher.on("error", () => {
        this.#end(folder, watcher);
        this.#onChange();
      });
      this.#watches.set(folder, watcher);
      return true;
    } catch (error) {
      // One that is gone is not missed; where the system has no more watches to give, it is.
      return (error as NodeJS.ErrnoException).code === "ENOENT";
    }
  }

  #handleEvent(folder: string, kind: string, name: string): void {
    if (isDraft(name.slice(name.lastIndexOf("/") + 1))) return;
    if (kind === "rename" && !isRecursive) this.#forget(folder === "" ? name : `${folder}/${name}`);
    this.#onChange();
  }

  /** It may be another one by now, of the same name. */
  #forget(path: string): void {
    for (const [folder, watcher] of this.#watches)
      if (folder === path || folder.startsWith(`${path}/`)) this.#end(folder, watcher);
  }

  #end(folder: string, watcher: FSWatcher): void {
    watcher.close();
    this.#watches.delete(folder);
  }
}
