import { readFile, realpath, stat } from "node:fs/promises";
import { extname, join, relative, resolve, sep } from "node:path";
import { type AgentManifest, fail, manifestSchema, settingsSchemaSchema, type ValidationIssue } from "@thinkery/sdk";
import { findNearest } from "@thinkery/sdk/internal";
import { getNodeValue, type Node, type ParseError, parseTree } from "jsonc-parser";
import type { z } from "zod";
import {
  findClosestNode,
  findKeyNode,
  formatPosition,
  formatSyntaxError,
  getIssuePath,
} from "../../config/json-position.ts";
import { explainInvalidName, toAgentName } from "./package-name.ts";
import { createMissingPackageError, packageFile } from "./package-target.ts";

/** The package of an agent, as its package.json describes it. */
export interface AgentPackage {
  /** Its real path. */
  folder: string;
  /** The name of the agent: that of the package without its scope. */
  name: string;
  description: string;
  manifest: AgentManifest;
  /** The main module, relative to the folder. */
  entry: string;
}

const extensions = [".ts", ".mts", ".js", ".mjs"];
const maxDescriptionChars = 2000;

/** Reads and validates a package. `dir` is its folder as the user wrote it. */
export async function readPackage(cwd: string, dir: string): Promise<AgentPackage> {
  const path = resolve(cwd, dir, packageFile);
  const text = await readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT" || error.code === "ENOTDIR") throw createMissingPackageError(dir);
    throw fail("bad_request", `Cannot read ${join(dir, packageFile)} (${error.code}).`);
  });
  return parsePackage(await realpath(resolve(cwd, dir)), join(dir, packageFile), text);
}

/** Validates the text of a package.json. `file` is its name in error messages. */
export async function parsePackage(folder: string, file: string, text: string): Promise<AgentPackage> {
  const content = text.replace(/^\uFEFF/, "");
  const errors: ParseError[] = [];
  const root = parseTree(content, errors, { disallowComments: true });
  if (errors[0] || !root) {
    const reason = errors[0] ? formatSyntaxError(errors[0]) : "it is empty";
    throw fail("bad_request", `${file}, ${formatPosition(content, errors[0]?.offset ?? 0)}: invalid JSON (${reason}).`);
  }
  if (root.type !== "object") throw fail("bad_request", `${file}: expected an object, { … }.`);
  const { name, description, main, thinkery } = getNodeValue(root) as Record<string, unknown>;
  const manifest = manifestSchema.safeParse(thinkery);
  const issues: ValidationIssue[] = [
    ...explainName(name),
    ...(await explainMain(folder, main)),
    ...(thinkery === undefined
      ? [missingManifest]
      : (manifest.error?.issues ?? []).flatMap(toManifestIssues(thinkery))),
  ];
  if (issues.length > 0 || !manifest.data) throw toIssueError(file, content, root, issues);
  return {
    folder,
    name: toAgentName(name as string),
    description: typeof description === "string" ? description.slice(0, maxDescriptionChars) : "",
    manifest: manifest.data,
    entry: relative(folder, resolve(folder, main as string))
      .split(sep)
      .join("/"),
  };
}

function explainName(name: unknown): ValidationIssue[] {
  if (typeof name !== "string") return [{ path: ["name"], message: 'expected a name, such as "hello"' }];
  const message = explainInvalidName(name);
  return message ? [{ path: ["name"], message }] : [];
}

async function explainMain(folder: string, main: unknown): Promise<ValidationIssue[]> {
  const issue = (message: string) => [{ path: ["main"], message }];
  if (typeof main !== "string" || main === "") return issue('expected the agent’s module, such as "src/agent.ts"');
  const path = resolve(folder, main);
  if (!path.startsWith(folder + sep)) return issue(`“${main}” is outside the package`);
  if (!extensions.includes(extname(path))) return issue(`expected a file that ends in ${extensions.join(", ")}`);
  const found = await stat(path).catch(() => undefined);
  return found?.isFile() ? [] : issue(`there is no file “${main}”`);
}

const missingManifest: ValidationIssue = {
  path: ["thinkery"],
  message: 'missing; add "thinkery": { "type": "agent", "runtime": "isolate", "capabilities": [] }',
};

/** Splits unknown keys, and suggests known ones. */
function toManifestIssues(manifest: unknown): (issue: z.core.$ZodIssue) => ValidationIssue[] {
  return (issue) => {
    const path = ["thinkery", ...getIssuePath(issue)];
    if (issue.code === "invalid_key") return [{ path, message: issue.issues[0]?.message ?? issue.message }];
    if (issue.code !== "unrecognized_keys") return [{ path, message: issue.message }];
    const known = listKnownKeys(manifest, path);
    return issue.keys.map((key) => {
      const suggestion = findNearest(key, known);
      const hint = suggestion ? `did you mean “${suggestion}”?` : `known keys: ${known.join(", ")}`;
      return { path: [...path, key], message: `unknown key; ${hint}` };
    });
  };
}

/** Returns the keys that the manifest may have at a path: its own, or those of a setting. */
function listKnownKeys(manifest: unknown, [, settings, name]: (string | number)[]): string[] {
  if (settings !== "settings" || name === undefined) return Object.keys(manifestSchema.shape);
  const { type } = (manifest as { settings: Record<string, { type: string }> }).settings[name] ?? {};
  const option = settingsSchemaSchema.valueType.options.find(({ shape }) => shape.type.value === type);
  return Object.keys(option?.shape ?? {});
}

function toIssueError(file: string, text: string, root: Node, issues: readonly ValidationIssue[]): Error {
  const placed = issues.map(({ path, message }) => {
    const parent = findClosestNode(root, path.slice(0, -1));
    const node = message.startsWith("unknown key") ? findKeyNode(parent, String(path.at(-1))) : undefined;
    const { offset } = node ?? findClosestNode(root, path);
    return { path, message: `${message} (${formatPosition(text, offset)})` };
  });
  const [first] = placed;
  return fail("bad_request", `${file}: ${first?.path.join(".")}: ${first?.message}`, { issues: placed });
}
