import { readFile } from "node:fs/promises";
import { extname, join } from "node:path";
import type { Loader, Message, TransformOptions } from "esbuild";

type Transform = (code: string, options: TransformOptions) => Promise<{ code: string }>;

const advice: Record<string, string> = {
  process: "There are no environment variables. Declare settings; ctx.settings has their values.",
  Buffer: "Use Uint8Array, TextEncoder, TextDecoder, btoa and atob.",
  __dirname: 'To bundle a text file, write import text from "./file.md". The workspace’s files are in ctx.fs.',
  __filename: 'To bundle a text file, write import text from "./file.md". The workspace’s files are in ctx.fs.',
  setImmediate: "Use setTimeout or queueMicrotask.",
};

const names = Object.keys(advice);
const usePattern = new RegExp(`(?<![\\w$.])(?:${names.join("|")})(?![\\w$])`, "g");
const loaders: Record<string, Loader> = { ".ts": "ts", ".mts": "ts", ".js": "js", ".mjs": "js" };

/** What bundles of browsers and Workers replace; shared with the build itself. */
export const standardDefines = { "process.env.NODE_ENV": '"production"', global: "globalThis" };

/** Finds globals of Node.js that the author's own files use, and that no agent has. */
export async function findNodeGlobals(
  transform: Transform,
  folder: string,
  files: readonly string[],
): Promise<Message[]> {
  const found = await Promise.all(files.map((file) => findInFile(transform, folder, file)));
  return found.flat();
}

async function findInFile(transform: Transform, folder: string, file: string): Promise<Message[]> {
  const loader = loaders[extname(file)];
  if (!loader || file.includes("node_modules/")) return [];
  const text = await readFile(join(folder, file), "utf8").catch(() => "");
  if (text.search(usePattern) === -1) return [];
  // esbuild knows which of them are variables of the file itself, or in comments.
  const marks = Object.fromEntries(names.map((name) => [name, toMark(name)]));
  const define = { ...standardDefines, ...marks };
  const { code } = await transform(text, { loader, define }).catch(() => ({ code: "" }));
  // Code that looks whether there is one knows what it does.
  const used = names.filter((name) => code.includes(toMark(name)) && !code.includes(`typeof ${toMark(name)}`));
  return used.map((name) => createMessage(file, text, name));
}

const toMark = (name: string): string => `thinkery$${name}`;

function createMessage(file: string, text: string, name: string): Message {
  const lines = text.split("\n");
  const isCode = (line: string) => !/^\s*(?:\/\/|\*|\/\*)/.test(line);
  const index = lines.findIndex((line) => isCode(line) && findUse(line, name) !== -1);
  const lineText = lines[index] ?? "";
  const column = Buffer.byteLength(lineText.slice(0, findUse(lineText, name)));
  return {
    id: "node-global",
    pluginName: "",
    text: `Agents have no ${name}, so this fails when it runs. ${advice[name]}`,
    location: { file, namespace: "", line: index + 1, column, length: name.length, lineText, suggestion: "" },
    notes: [],
    detail: undefined,
  };
}

function findUse(line: string, name: string): number {
  return [...line.matchAll(usePattern)].find(([use]) => use === name)?.index ?? -1;
}
