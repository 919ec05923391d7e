import { readFile, realpath, stat } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, isAbsolute, relative, resolve, sep } from "node:path";
import { maxPromptChars } from "@thinkery/sdk";

interface PromptFolders {
  /** The workflow file. */
  workflow: string;
  /** The working folder of the person who runs it. */
  cwd: string;
}

/** A character has at most three bytes in UTF-8 for each of its UTF-16 units. */
const maxPromptBytes = maxPromptChars * 3;

/**
 * Reads a prompt of a workflow. It must be in the folder of the workflow, or with it in the working folder: a workflow
 * of somebody else's repository must not send your files to a model. Returns what is wrong in words.
 */
export async function readPromptFile(
  file: string,
  { workflow, cwd }: PromptFolders,
): Promise<{ text: string } | { issue: string }> {
  if (isAbsolute(file) || file.includes("\\"))
    return { issue: `“${file}” must be relative to the workflow file, with “/”` };
  const path = resolve(dirname(workflow), file);
  try {
    const real = await realpath(path);
    if (!(await isAllowed(real, { workflow, cwd })))
      return { issue: `“${file}” is outside of the workflow's folder, so it is not read` };
    const { size, ...status } = await stat(real).then((found) => ({ size: found.size, isFile: found.isFile() }));
    if (!status.isFile) return { issue: `“${file}” is not a file` };
    const text = size > maxPromptBytes ? undefined : await readFile(real, "utf8");
    if (text === undefined || text.length > maxPromptChars)
      return { issue: `“${file}” has more than ${maxPromptChars} characters` };
    return { text };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return { issue: `“${file}” does not exist` };
    return { issue: `“${file}” cannot be read (${code})` };
  }
}

async function isAllowed(file: string, { workflow, cwd }: PromptFolders): Promise<boolean> {
  const folder = dirname(await realpath(workflow));
  if (isInside(folder, file)) return true;
  const [workingFolder, home] = await Promise.all([realpath(cwd), realpath(homedir()).catch(() => homedir())]);
  // Somebody who works in their home folder, or above it, has not opened all of it to the workflow.
  return !isInside(workingFolder, home) && isInside(workingFolder, folder) && isInside(workingFolder, file);
}

/** Whether a path is a folder or in it. */
function isInside(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return way === "" || (way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way));
}
