/** Files that programs keep in their home folder, which for commands is /work. */
const homeFolders = new Set([
  ".bash_history",
  ".cache",
  ".gnupg",
  ".lesshst",
  ".local",
  ".node_repl_history",
  ".npm",
  ".python_history",
  ".ssh",
  ".viminfo",
  ".wget-hsts",
  ".yarn-cache",
]);

/** Folders that programs create anywhere. */
const cacheFolders = new Set(["__pycache__"]);

/** Tells whether programs created a file for themselves, so that it does not belong in the workspace. */
export function isProgramFile(path: string): boolean {
  return homeFolders.has(path) || cacheFolders.has(path.slice(path.lastIndexOf("/") + 1));
}
