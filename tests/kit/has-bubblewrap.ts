import { execFile } from "node:child_process";

/** Whether this machine can run native commands in a Linux sandbox. */
export function hasBubblewrap(): Promise<boolean> {
  return new Promise((resolve) =>
    execFile("bwrap", ["--unshare-all", "--ro-bind", "/", "/", "true"], (error) => resolve(!error)),
  );
}
