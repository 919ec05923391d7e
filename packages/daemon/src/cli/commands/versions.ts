import type { VersionDiff } from "@thinkery/sdk";
import { type Command, Option } from "commander";
import type { Cli } from "../cli.ts";
import { wholeNumber } from "../files/number.ts";
import { branchOption, reachAgent, targetHelp } from "../files/reach.ts";
import { changesOf, sizeOf, whoOf } from "../files/words.ts";
import { examples } from "../help.ts";
import { harmless, printable } from "../output.ts";

interface VersionsFlags {
  limit: number;
  before?: number;
  turn?: string;
  call?: string;
  branch?: string;
}

export function addVersions(program: Command, cli: Cli): void {
  const group = program
    .command("versions")
    .description("show who changed an agent's files, and what")
    .argument("<target>", targetHelp)
    .argument("[path]", "only those that changed this file, or something in this folder")
    .addOption(new Option("--limit <number>", "so many").argParser(wholeNumber("how many")).default(20))
    .addOption(new Option("--before <number>", "older than this version").argParser(wholeNumber("a version")))
    .option("--turn <id>", "only what this turn changed")
    .option("--call <id>", "only what this tool call changed")
    .addOption(branchOption())
    .addHelpText("after", examples(["versions alice", ""], ["versions alice notes.md", ""], ["versions show alice 12", "what it changed"]))
    .action(async (text: string, path: string | undefined, { call, limit, ...flags }: VersionsFlags) => {
      const { agent, target } = await reachAgent(cli, text);
      const found = await agent.versions({ ...flags, limit: Math.min(limit, 200), ...(call === undefined ? {} : { toolCall: call }), ...(path === undefined ? {} : { path }) });
      cli.output.reply(found, () => {
        if (found.versions.length === 0) return path === undefined ? `Nothing was changed in ${target.agent}'s files.` : `No version changed “${path}”.`;
        const rows = found.versions.map(({ id, at, origin, changes, more, merges, reverts }) => [String(id), at, whoOf(origin), changesOf(changes, more) + noteOf(reverts, merges)]);
        const table = cli.output.table(["VERSION", "WHEN", "BY", "CHANGED"], rows);
        return found.next === undefined ? table : `${table}\n${cli.output.dim(`Older ones: --before ${found.next}`)}`;
      });
    });

  group
    .command("show")
    .description("show what a version changed, line by line")
    .argument("<target>", targetHelp)
    .argument("<version>", "its number", wholeNumber("a version"))
    .argument("[path]", "only in this file, or this folder")
    .addHelpText("after", examples(["versions show alice 12", ""], ["versions show alice 12 notes.md", ""]))
    .action(async (text: string, id: number, path: string | undefined) => {
      const { agent } = await reachAgent(cli, text);
      const version = await agent.version(id, path === undefined ? {} : { path });
      cli.output.reply(version, () => shown(cli, version));
    });
}

function noteOf(reverts: readonly number[] | undefined, merges: string | undefined): string {
  if (merges !== undefined) return ` (merges ${merges})`;
  return reverts ? ` (reverts ${reverts.join(", ")})` : "";
}

function shown({ output }: Cli, { id, at, origin, reverts, merges, diffs, truncated }: VersionDiff): string {
  const head = output.facts([
    ["version", `${id}${noteOf(reverts, merges)}`],
    ["when", at],
    ["by", whoOf(origin)],
    ["branch", origin.branch],
    ["turn", origin.turn],
    ["call", origin.toolCall],
  ]);
  const files = diffs.map((one) => [output.bold(titleOf(one)), ...linesOf(one.diff).map((line) => output.change(line))].join("\n"));
  return [head, ...files, ...(truncated ? ["More was changed than is shown; ask for one file."] : [])].join("\n\n");
}

function titleOf({ kind, path, from, diff, added, removed, before, after }: VersionDiff["diffs"][number]): string {
  const what = kind === "move" ? `move ${from ?? ""} > ${path}` : `${kind} ${path}`;
  const size = (side: { size: number } | undefined) => (side ? sizeOf(side.size) : "nothing");
  const lines = added !== undefined || removed !== undefined ? `+${added ?? 0} -${removed ?? 0}` : `${size(before)} > ${size(after)}`;
  return printable(`${what}  (${diff === undefined && kind === "move" ? "as it was" : lines})`);
}

// The head of a diff says what the title says.
function linesOf(diff: string | undefined): string[] {
  const lines = harmless(diff ?? "").replace(/\n$/, "").split("\n");
  const first = lines.findIndex((line) => line.startsWith("@@"));
  return first < 0 ? [] : lines.slice(first);
}
