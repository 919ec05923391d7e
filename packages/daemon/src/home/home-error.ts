import { fail, isThinkeryError, type ThinkeryError } from "@thinkery/sdk";

const messageByCode: Record<string, string> = {
  EACCES: "is not writable. Fix its permissions, or set THINKERY_HOME to another folder.",
  EPERM: "cannot be modified by this user. Fix its owner, or set THINKERY_HOME to another folder.",
  EROFS: "is on a read-only file system. Set THINKERY_HOME to a writable folder.",
  ENOSPC: "is on a full disk. Free some space and try again.",
  EDQUOT: "is over its disk quota. Free some space and try again.",
  ENOENT: "cannot be created. Set THINKERY_HOME to another folder.",
  ENOTDIR: "is not a folder, or part of its path is a file. Set THINKERY_HOME to a folder.",
  EEXIST: "is not a folder. Set THINKERY_HOME to a folder.",
  ENAMETOOLONG: "has a path that is too long. Set THINKERY_HOME to a shorter path.",
  ELOOP: "is a symbolic link loop. Set THINKERY_HOME to a real folder.",
};

/** Converts a file system error of the data folder to a readable message. */
export function toHomeError(path: string, error: unknown): ThinkeryError {
  if (isThinkeryError(error)) return error;
  const { code = "", message = String(error) } = error as NodeJS.ErrnoException;
  return fail("unavailable", `The data folder ${path} ${messageByCode[code] ?? `cannot be used: ${message}`}`);
}
