import { constants } from "node:fs";
import { access, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { place } from "../cli/place.ts";
import { openHome } from "../home/home.ts";
import type { Finding, Patient } from "./finding.ts";

const name = "data folder";

export async function checkFolder({ env, home }: Patient): Promise<Finding> {
  const shown = place(home.path);
  const found = await stat(home.path).catch(() => undefined);
  if (!found) return checkPlaceForFolder(home.path);
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

async function checkPlaceForFolder(path: string): Promise<Finding> {
  let parent = dirname(path);
  while (!(await stat(parent).catch(() => undefined)) && dirname(parent) !== parent) parent = dirname(parent);
  try {
    await access(parent, constants.W_OK | constants.X_OK);
    return { name, state: "ok", message: `${place(path)} will be made at the first start` };
  } catch {
    return {
      name,
      state: "fail",
      message: `${place(path)} cannot be made, for ${place(parent)} may not be written`,
      fix: "Set THINKERY_HOME to a folder that you may write.",
    };
  }
}
