/** To a command, /work is its home too: what programs keep in one for themselves is no work of anybody. */
const inHome = new Set([".bash_history", ".cache", ".gnupg", ".lesshst", ".local", ".node_repl_history", ".npm", ".python_history", ".ssh", ".viminfo", ".wget-hsts", ".yarn-cache"]);

/** And what they leave wherever they are. */
const anywhere = new Set(["__pycache__"]);

export function isOfPrograms(path: string): boolean {
  return inHome.has(path) || anywhere.has(path.slice(path.lastIndexOf("/") + 1));
}
