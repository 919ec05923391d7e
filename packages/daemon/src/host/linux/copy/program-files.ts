/** To a command, /work is its home too: what programs keep in one for themselves is no work of anybody. */
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

/** And what they leave wherever they are. */
const cacheFolders = new Set(["__pycache__"]);

export function isProgramFile(path: string): boolean {
  return homeFolders.has(path) || cacheFolders.has(path.slice(path.lastIndexOf("/") + 1));
}
