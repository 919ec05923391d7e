import { constants } from "node:fs";
import { access, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { formatPath } from "../cli/format-path.ts";
import { openHome } from "../home/home.ts";
import type { Finding, CheckContext } from "./finding.ts";

const name = "data folder";

export async function checkFolder({ env, home }: CheckContext): Promise<Finding> {
  const shown = formatPath(home.path);
  const found = await stat(home.path).catch(() => undefined);
  if (!found) return checkParentFolder(home.path);
  const open = (found.mode & 0o077) !== 0;
  try {
    // Also looks at its format, and takes back rights that others should not have.
    await openHome(env);
  } catch (error) {
    const { message } = error as Error;
    return { name, state: "fail", message, fix: "Do that, or set THINKERY_HOME to another folder." };
  }
  if (open) return { name, state: "warn", message: `${shown} could be read by others; it no longer can` };
  return { name, state: "ok", message: shown };
}

async function checkParentFolder(path: string): Promise<Finding> {
  let parent = dirname(path);
  while (!(await stat(parent).catch(() => undefined)) && dirname(parent) !== parent) parent = dirname(parent);
  try {
    await access(parent, constants.W_OK | constants.X_OK);
    return { name, state: "ok", message: `${formatPath(path)} will be made at the first start` };
  } catch {
    return {
      name,
      state: "fail",
      message: `${formatPath(path)} cannot be made, for ${formatPath(parent)} may not be written`,
      fix: "Set THINKERY_HOME to a folder that you may write.",
    };
  }
}
