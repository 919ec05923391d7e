import { type FSWatcher, watch } from "node:fs";
import { dirname, join, sep } from "node:path";

/** Watches the source files of a bundle. */
export interface FileWatch {
  /** Replaces the watched files. With `others`, also reports other files in their folders: a missing one may appear. */
  setFiles(files: readonly string[], others: boolean): void;
  close(): void;
}

/** Editors write a file in several steps and save several files at once. */
const debounceMs = 100;

export function watchFiles(onChange: () => void, onError: (error: Error) => void): FileWatch {
  const folders = new Map<string, FSWatcher>();
  let watched = new Set<string>();
  let includesOthers = false;
  let timer: ReturnType<typeof setTimeout> | undefined;

  // Watches the folder and not the file, because many editors replace the file.
  function watchFolder(folder: string): void {
    try {
      const watcher = watch(folder, { persistent: false }, (_, name) => {
        if (name !== null && !includesOthers && !watched.has(join(folder, name))) return;
        clearTimeout(timer);
        timer = setTimeout(onChange, debounceMs);
      });
      folders.set(folder, watcher.on("error", onError));
    } catch (error) {
      // The folder was just deleted, or the system's limit of watches is reached.
      onError(error as Error);
    }
  }

  return {
    setFiles(files, others) {
      // Packages are not edited, and they contain thousands of files.
      const own = files.filter((file) => !file.includes(`${sep}node_modules${sep}`));
      watched = new Set(own);
      includesOthers = others;
      const needed = new Set(own.map((file) => dirname(file)));
      for (const [folder, watcher] of folders) {
        if (needed.has(folder)) continue;
        watcher.close();
        folders.delete(folder);
      }
      for (const folder of needed) if (!folders.has(folder)) watchFolder(folder);
    },
    close() {
      clearTimeout(timer);
      for (const watcher of folders.values()) watcher.close();
      folders.clear();
    },
  };
}
