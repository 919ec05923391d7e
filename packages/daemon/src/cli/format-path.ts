import { homedir } from "node:os";
import { sep } from "node:path";

/** Abbreviates the home folder: `~/.thinkery`. */
export function formatPath(path: string, userFolder: string = homedir()): string {
  if (path === userFolder) return "~";
  return path.startsWith(userFolder + sep) ? `~${path.slice(userFolder.length)}` : path;
}
