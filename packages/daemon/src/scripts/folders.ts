import { readdir, readFile, realpath, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { fail, findNameIssue, nameRules, type Script } from "@thinkery/sdk";

export interface FoundScript {
  name: string;
  /** Its name in messages, without the path on this machine. */
  file: string;
  script: Script;
}

export interface ScriptFolders {
  listNames(): Promise<string[]>;
  /** Reads the file state on every call; parses again only if the file changed. */
  find(name: string): Promise<FoundScript | undefined>;
}

const extensions = [".yaml", ".yml"];
const maxScriptBytes = 1024 * 1024;

/** Finds scripts in several folders; earlier folders take precedence. */
export function openScriptFolders(folders: readonly string[]): ScriptFolders {
  const parsed = new Map<string, { stamp: string; script: Script }>();

  async function listNames(): Promise<string[]> {
    const lists = await Promise.all(folders.map((folder) => readdir(folder).catch((): string[] => [])));
    const found = lists.flat().flatMap((file) => {
      const extension = extensions.find((candidate) => file.endsWith(candidate));
      const name = extension && file.slice(0, -extension.length);
      return name && isName(name) ? [name] : [];
    });
    return [...new Set(found)].toSorted();
  }

  async function find(name: string): Promise<FoundScript | undefined> {
    if (!isName(name))
      throw fail("bad_request", "Invalid script name. Use letters, digits, and . _ - after the first character.");
    const path = await locate(name);
    if (!path) return undefined;
    const file = `scripts/${basename(path)}`;
    const { size, mtimeMs, ino } = await stat(path);
    if (size > maxScriptBytes) throw fail("too_large", `${file} is larger than 1 MiB.`);
    const stamp = `${size} ${mtimeMs} ${ino}`;
    const cached = parsed.get(path);
    if (cached?.stamp === stamp) return { name, file, script: cached.script };
    // Imported lazily: a host that runs no script does not need the parser.
    const { parseScript } = await import("./parse.ts");
    const script = parseScript(file, await readFile(path, "utf8"));
    parsed.set(path, { stamp, script });
    return { name, file, script };
  }

  async function locate(name: string): Promise<string | undefined> {
    for (const folder of folders) {
      for (const extension of extensions) {
        const path = join(folder, name + extension);
        if (await isInside(folder, path)) return path;
      }
    }
    return undefined;
  }

  return { listNames, find };
}

// A symbolic link must not lead out of the folder: a cloned repository could link to any file.
async function isInside(folder: string, path: string): Promise<boolean> {
  try {
    const [realFile, realFolder] = await Promise.all([realpath(path), realpath(folder)]);
    return dirname(realFile) === realFolder && (await stat(realFile)).isFile();
  } catch {
    return false;
  }
}

function isName(name: string): boolean {
  return findNameIssue(nameRules.script, name) === undefined;
}
