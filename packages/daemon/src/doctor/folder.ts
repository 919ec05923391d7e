import { constants } from "node:fs";
import { access, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { formatPath } from "../cli/format-path.ts";
import { openHome } from "../home/home.ts";
import type { Finding, CheckContext } from "./finding.ts";

const name = "data folder";

export async function checkFolder({ env, home }: CheckContext): Promise<Finding> {
  const path = formatPath(home.path);
  const found = await stat(home.path).catch(() => undefined);
  if (!found) return checkParentFolder(home.path);
  const isShared = (found.mode & 0o077) !== 0;
  try {
    // Also checks its format and removes the permissions of other users.
    await openHome(env);
  } catch (error) {
    const { message } = error as Error;
    return { name, state: "fail", message, fix: "Fix it, or set THINKERY_HOME to another folder." };
  }
  if (isShared)
    return { name, state: "warn", message: `${path} was readable by other users; its permissions are fixed now` };
  return { name, state: "ok", message: path };
}

async function checkParentFolder(path: string): Promise<Finding> {
  let parent = dirname(path);
  while (!(await stat(parent).catch(() => undefined)) && dirname(parent) !== parent) parent = dirname(parent);
  try {
    await access(parent, constants.W_OK | constants.X_OK);
    return { name, state: "ok", message: `${formatPath(path)} will be created on first start` };
  } catch {
    return {
      name,
      state: "fail",
      message: `cannot create ${formatPath(path)}: ${formatPath(parent)} is not writable`,
      fix: "Set THINKERY_HOME to a writable folder.",
    };
  }
}
