import type { Version, VersionDiff } from "@thinkery/sdk";
import { type Command, Option } from "commander";
import type { Cli } from "../cli.ts";
import { createBranchOption, connectToAgent, targetHelp } from "../files/connect-agent.ts";
import { formatChanges, formatSize, formatOrigin } from "../files/format.ts";
import { parsePositiveInteger } from "../files/parse-positive-integer.ts";
import { formatExamples } from "../help.ts";
import { sanitize, sanitizeIndented } from "../output.ts";

interface VersionsFlags {
  limit: number;
  before?: number;
  turn?: string;
  call?: string;
  branch?: string;
}

interface VersionPage {
  versions: Version[];
  next?: number | undefined;
}

export function addVersions(program: Command, cli: Cli): void {
  const group = program
    .command("versions")
    .description("show the version history of an agent's files")
    .argument("<target>", targetHelp)
    .argument("[path]", "only versions that changed this file or folder")
    .addOption(new Option("--limit <number>", "maximum number of entries").argParser(parsePositiveInteger).default(20))
    .addOption(new Option("--before <number>", "only versions older than this one").argParser(parsePositiveInteger))
    .option("--turn <id>", "only changes of this turn")
    .option("--call <id>", "only changes of this tool call")
    .addOption(createBranchOption())
    .addHelpText(
      "after",
      formatExamples(
        ["versions alice", ""],
        ["versions alice notes.md", ""],
        ["versions show alice 12", "show its diff"],
      ),
    )
    .action(async (text: string, path: string | undefined, { call, limit, ...flags }: VersionsFlags) => {
      const { agent, target } = await connectToAgent(cli, text);
      const found = await agent.versions({
        ...flags,
        limit: Math.min(limit, 200),
        ...(call === undefined ? {} : { toolCall: call }),
        ...(path === undefined ? {} : { path }),
      });
      cli.output.reply(found, () => {
        if (found.versions.length === 0)
          return path === undefined ? `${target.agent}'s files have no versions yet.` : `No version changed “${path}”.`;
        return formatVersions(cli, found);
      });
    });

  group
    .command("show")
    .description("show the diff of a version")
    .argument("<target>", targetHelp)
    .argument("<version>", "version number", parsePositiveInteger)
    .argument("[path]", "only this file or folder")
    .addHelpText("after", formatExamples(["versions show alice 12", ""], ["versions show alice 12 notes.md", ""]))
    .action(async (text: string, id: number, path: string | undefined) => {
      const { agent } = await connectToAgent(cli, text);
      const version = await agent.version(id, path === undefined ? {} : { path });
      cli.output.reply(version, () => formatVersion(cli, version));
    });
}

/** Formats versions as a table, newest first. */
export function formatVersions({ output }: Cli, { versions, next }: VersionPage): string {
  const rows = versions.map(({ id, at, origin, changes, more, merges, reverts }) => [
    String(id),
    at,
    formatOrigin(origin),
    formatChanges(changes, more) + formatNote(reverts, merges),
  ]);
  const table = output.formatTable(["VERSION", "WHEN", "BY", "CHANGED"], rows);
  return next === undefined ? table : `${table}\n${output.dim(`For older versions, use --before ${next}`)}`;
}

function formatNote(reverts: readonly number[] | undefined, merges: string | undefined): string {
  if (merges !== undefined) return ` (merges ${merges})`;
  return reverts ? ` (reverts ${reverts.join(", ")})` : "";
}

export function formatVersion(
  { output }: Cli,
  { id, at, origin, reverts, merges, diffs, truncated }: VersionDiff,
): string {
  const head = output.formatFields([
    ["version", `${id}${formatNote(reverts, merges)}`],
    ["when", at],
    ["by", formatOrigin(origin)],
    ["branch", origin.branch],
    ["turn", origin.turn],
    ["call", origin.toolCall],
  ]);
  const files = diffs.map((file) =>
    [output.bold(formatTitle(file)), ...toDiffLines(file.diff).map((line) => output.colorDiffLine(line))].join("\n"),
  );
  return [head, ...files, ...(truncated ? ["Output truncated. Pass a path to show one file."] : [])].join("\n\n");
}

function formatTitle({ kind, path, from, diff, added, removed, before, after }: VersionDiff["diffs"][number]): string {
  const what = kind === "move" ? `move ${from ?? ""} -> ${path}` : `${kind} ${path}`;
  const formatSide = (side: { size: number } | undefined) => (side ? formatSize(side.size) : "none");
  const lines =
    added !== undefined || removed !== undefined
      ? `+${added ?? 0} -${removed ?? 0}`
      : `${formatSide(before)} -> ${formatSide(after)}`;
  return sanitizeIndented(`${what}  (${diff === undefined && kind === "move" ? "unchanged" : lines})`);
}

// Drops the header of the diff, which repeats the title.
function toDiffLines(diff: string | undefined): string[] {
  const lines = sanitize(diff ?? "")
    .replace(/\n$/, "")
    .split("\n");
  const first = lines.findIndex((line) => line.startsWith("@@"));
  return first < 0 ? [] : lines.slice(first);
}
