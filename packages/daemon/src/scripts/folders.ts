import { readdir, readFile, realpath, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { fail, findNameIssue, nameRules, type Script } from "@thinkery/sdk";

export interface FoundScript {
  name: string;
  /** As messages call it, without the place on this machine. */
  file: string;
  script: Script;
}

export interface ScriptFolders {
  listNames(): Promise<string[]>;
  /** Read from the disk on every ask, and parsed when it changed. */
  find(name: string): Promise<FoundScript | undefined>;
}

const extensions = [".yaml", ".yml"];
const maxScriptBytes = 1024 * 1024;

/** The folders in which scripts lie; earlier ones win. */
export function openScriptFolders(folders: readonly string[]): ScriptFolders {
  const parsed = new Map<string, { stamp: string; script: Script }>();

  async function listNames(): Promise<string[]> {
    const lists = await Promise.all(folders.map((folder) => readdir(folder).catch((): string[] => [])));
    const found = lists.flat().flatMap((file) => {
      const ending = extensions.find((candidate) => file.endsWith(candidate));
      const name = ending && file.slice(0, -ending.length);
      return name && isName(name) ? [name] : [];
    });
    return [...new Set(found)].toSorted();
  }

  async function find(name: string): Promise<FoundScript | undefined> {
    if (!isName(name))
      throw fail("bad_request", "This cannot be the name of a script; use letters, digits, and . _ - after the first.");
    const path = await locate(name);
    if (!path) return undefined;
    const file = `scripts/${basename(path)}`;
    const { size, mtimeMs, ino } = await stat(path);
    if (size > maxScriptBytes) throw fail("too_large", `${file} is larger than 1 MiB.`);
    const stamp = `${size} ${mtimeMs} ${ino}`;
    const before = parsed.get(path);
    if (before?.stamp === stamp) return { name, file, script: before.script };
    // Only here: a host that plays no script need not load the parser.
    const { parseScript } = await import("./parse.ts");
    const script = parseScript(file, await readFile(path, "utf8"));
    parsed.set(path, { stamp, script });
    return { name, file, script };
  }

  async function locate(name: string): Promise<string | undefined> {
    for (const folder of folders) {
      for (const ending of extensions) {
        const path = join(folder, name + ending);
        if (await isInside(folder, path)) return path;
      }
    }
    return undefined;
  }

  return { listNames, find };
}

// A link must not lead out of the folder: a repository could bring one that points at anything.
async function isInside(folder: string, path: string): Promise<boolean> {
  try {
    const [real, home] = await Promise.all([realpath(path), realpath(folder)]);
    return dirname(real) === home && (await stat(real)).isFile();
  } catch {
    return false;
  }
}

function isName(name: string): boolean {
  return findNameIssue(nameRules.script, name) === undefined;
}
