import { fail, type ValidationIssue } from "@thinkery/sdk";
import type { Location, Message } from "esbuild";
import { explainMissingExport } from "./import-sdk.ts";

interface MessageOptions {
  /** The folder of the package as the user wrote it, before the path of a file. */
  formatFile(file: string): string;
  /** Returns which imports lead from the agent to a file. */
  findChain?(file: string): string[];
}

const maxErrors = 20;

/** Converts the errors of a build to one with their positions, and the lines they are about. */
export async function createBuildError(errors: readonly Message[], options: MessageOptions): Promise<Error> {
  const sorted = errors.toSorted((a, b) => Number(isDependency(a.location)) - Number(isDependency(b.location)));
  const issues = await Promise.all(sorted.slice(0, maxErrors).map((message) => toIssue(message, options)));
  const more = errors.length - issues.length;
  if (more > 0) issues.push({ path: ["…"], message: `${more} more errors` });
  const [first] = issues;
  return fail("bad_request", `${first?.path[0] ?? "The agent cannot be bundled"}: ${first?.message}`, { issues });
}

export async function formatWarnings(warnings: readonly Message[], options: MessageOptions): Promise<string[]> {
  const issues = await Promise.all(warnings.map((message) => toIssue(message, options)));
  return issues.map(({ path, message }) => `${path[0]}: ${message}`);
}

async function toIssue({ text, location, notes }: Message, options: MessageOptions): Promise<ValidationIssue> {
  const path = [location ? formatLocation(location, options) : options.formatFile("") || "."];
  const explanation = await explain(text, location, options);
  const chain = location && isDependency(location) ? (options.findChain?.(location.file) ?? []) : [];
  const lines = [
    explanation ?? text.replace(/[.]?$/, "."),
    ...(location ? [formatFrame(location)] : []),
    ...(chain.length > 1 ? [`imported by ${shorten(chain).toReversed().join("\n  which is imported by ")}`] : []),
    ...(explanation === undefined ? notes.flatMap((note) => formatNote(note, options)) : []),
  ];
  return { path, message: lines.join("\n") };
}

/** Says what to do about messages of esbuild that do not know our world. */
async function explain(
  text: string,
  location: Location | null,
  { formatFile }: MessageOptions,
): Promise<string | undefined> {
  const missing = /^Could not resolve "(.+)"$/.exec(text)?.[1];
  if (missing !== undefined) {
    // Without a location, it is the entry.
    if (location === null || /^[./]/.test(missing)) return `There is no file “${missing}”.`;
    const name = /^(?:@[^/]+\/)?[^/]+/.exec(missing)?.[0];
    return `Cannot find the package “${missing}”. Run \`npm install ${name}\` in ${formatFile("") || "its folder"}.`;
  }
  if (text.startsWith("No loader is configured"))
    return "Agents can import .ts, .js and .json files, and .txt and .md files as text.";
  const kind = /^This (?:"(import)" expression|call to "(require)") will not be bundled/.exec(text);
  if (kind) {
    const name = kind[1] ?? kind[2];
    return `This ${name}() fails when it runs: an agent is one module, so the bundler has to know what is imported. Use a string literal.`;
  }
  return explainMissingExport(text);
}

function formatNote({ text, location }: Message["notes"][number], { formatFile }: MessageOptions): string[] {
  return location ? [`${formatFile(location.file)}:${location.line}:${toColumn(location) + 1}: ${text}`] : [];
}

function formatLocation(location: Location, { formatFile }: MessageOptions): string {
  return `${formatFile(location.file)}:${location.line}:${toColumn(location) + 1}`;
}

const maxLineChars = 100;

/** Formats the line with a mark below the part that is meant. */
function formatFrame(location: Location): string {
  const { line, lineText, length } = location;
  const column = toColumn(location);
  // Of a long line, what is around the position.
  const start = column < maxLineChars - 20 ? 0 : column - 20;
  const shown = lineText.slice(start, start + maxLineChars);
  const indent = shown.slice(0, column - start).replace(/[^\t]/g, " ");
  const mark = length > 1 ? "~".repeat(Math.min(length, shown.length - (column - start))) : "^";
  const margin = " ".repeat(String(line).length);
  return `  ${line} │ ${shown}\n  ${margin} ╵ ${indent}${mark}`;
}

/** esbuild counts bytes. */
function toColumn({ lineText, column }: Location): number {
  return Buffer.from(lineText).subarray(0, column).toString().length;
}

const maxChainFiles = 6;

function shorten(chain: readonly string[]): string[] {
  const importers = chain.slice(0, -1);
  if (importers.length <= maxChainFiles) return importers;
  const half = maxChainFiles / 2;
  return [...importers.slice(0, half), `… ${importers.length - maxChainFiles} more …`, ...importers.slice(-half)];
}

export const isDependency = (location: Location | null): boolean =>
  location !== null && /(?:^|\/)node_modules\//.test(location.file);
