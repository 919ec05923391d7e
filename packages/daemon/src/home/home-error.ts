import { fail, isThinkeryError, type ThinkeryError } from "@thinkery/sdk";

const messageByCode: Record<string, string> = {
  EACCES: "may not be written by this user; fix its permissions or set THINKERY_HOME to another folder.",
  EPERM: "may not be changed by this user; fix its owner or set THINKERY_HOME to another folder.",
  EROFS: "is on a read-only disk; set THINKERY_HOME to a folder that can be written.",
  ENOSPC: "is on a full disk; free some space and try again.",
  EDQUOT: "is over its disk quota; free some space and try again.",
  ENOENT: "cannot be made there; set THINKERY_HOME to another folder.",
  ENOTDIR: "is not a folder, or a part of its path is a file; set THINKERY_HOME to a folder.",
  EEXIST: "is not a folder; set THINKERY_HOME to a folder.",
  ENAMETOOLONG: "has too long a name; set THINKERY_HOME to a shorter path.",
  ELOOP: "is a symbolic link that leads to itself; set THINKERY_HOME to a real folder.",
};

/** What a person reads when the data folder cannot be used. */
export function toHomeError(path: string, error: unknown): ThinkeryError {
  if (isThinkeryError(error)) return error;
  const { code = "", message = String(error) } = error as NodeJS.ErrnoException;
  return fail("unavailable", `The data folder ${path} ${messageByCode[code] ?? `cannot be used: ${message}`}`);
}
