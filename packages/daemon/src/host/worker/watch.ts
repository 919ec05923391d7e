import { type FSWatcher, watch } from "node:fs";
import { dirname, join, sep } from "node:path";

/** Watches the files that something is made of. */
export interface FileWatch {
  /** From now on these. With `others`, also new and changed files beside them: what was missing may come. */
  setFiles(files: readonly string[], others: boolean): void;
  close(): void;
}

/** Editors write a file in several steps, and save several at once. */
const debounceMs = 100;

export function watchFiles(onChange: () => void, onTrouble: (error: Error) => void): FileWatch {
  const folders = new Map<string, FSWatcher>();
  let wanted = new Set<string>();
  let open = false;
  let timer: ReturnType<typeof setTimeout> | undefined;

  // The folder, not the file: many editors put a new file in the place of the old one.
  function watchFolder(folder: string): void {
    try {
      const watcher = watch(folder, { persistent: false }, (_, name) => {
        if (name !== null && !open && !wanted.has(join(folder, name))) return;
        clearTimeout(timer);
        timer = setTimeout(onChange, debounceMs);
      });
      folders.set(folder, watcher.on("error", onTrouble));
    } catch (error) {
      // The folder has just gone, or the system watches too much already.
      onTrouble(error as Error);
    }
  }

  return {
    setFiles(files, others) {
      // Packages change by an installation, not by an edit, and there are a thousand files in them.
      const own = files.filter((file) => !file.includes(`${sep}node_modules${sep}`));
      wanted = new Set(own);
      open = others;
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
