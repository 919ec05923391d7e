import { type BlobTotals, type Collection, fail } from "@thinkery/sdk";
import { type Client, withRetry } from "@thinkery/sdk/client";
import type { Command } from "commander";
import type { Cli } from "../cli.ts";
import { connect } from "../connect.ts";
import { formatSize } from "../files/format.ts";
import { formatExamples } from "../help.ts";

export function addGc(program: Command, cli: Cli): void {
  program
    .command("gc")
    .description("delete stored content that no agent or agency needs any more")
    .option("--dry-run", "only show what would be deleted")
    .addHelpText(
      "after",
      formatExamples(
        ["gc --dry-run", "show what would be deleted"],
        ["gc", "delete it. What deleted agents and agencies stored is deleted without this"],
      ),
    )
    .action(async ({ dryRun = false }: { dryRun?: boolean }) => {
      const { client } = await connect(cli);
      const { id: _, ...collection } = await collect(cli, client, dryRun);
      if (collection.state === "failed")
        throw fail(
          "unavailable",
          `The collection failed: ${collection.error ?? "no reason given"}. See \`thinkery logs\`.`,
        );
      cli.output.reply(collection, () => describeCollection(cli, collection));
    });
}

/** Waits for the end of a collection. The host responds every few seconds, with what it has done so far. */
async function collect(cli: Cli, client: Client, dryRun: boolean): Promise<Collection> {
  let id: string | undefined;
  for (let shown = ""; ;) {
    const body = { dryRun, ...(id ? { id } : {}) };
    const collection = await withRetry((signal) => client.call("collectBlobs", { body, signal }));
    if (collection.state !== "running") return collection;
    id = collection.id;
    const { agents, progress } = collection;
    const text = `${agents} agents asked, ${Math.round(100 * progress)}% of the blobs examined`;
    if (text !== shown && cli.output.isStderrTTY && !cli.output.isJson) cli.output.writeNote(text);
    shown = text;
  }
}

function describeCollection(cli: Cli, { dryRun, agents, report, unreadable, unknownAgents }: Omit<Collection, "id">) {
  const { needed, freed, recent, unknown, partials, missing } = report;
  const fields = cli.output.formatFields([
    ["agents", String(agents)],
    ["needed", formatTotals(needed)],
    [dryRun ? "to delete" : "deleted", formatTotals(freed)],
    ["recent", recent.blobs === 0 ? undefined : `${formatTotals(recent)}, left for a later run`],
    ["unknown", unknown.blobs === 0 ? undefined : `${formatTotals(unknown)}, kept`],
    ["leftovers", partials === 0 ? undefined : `${partials} of interrupted writes`],
    ["missing", missing === 0 ? undefined : `${missing}, which are still referred to`],
  ]);
  const notes = [
    ...(unreadable.length > 0 ? [`Could not read ${unreadable.join(", ")}. See \`thinkery logs\`.`] : []),
    ...(unknownAgents > 0
      ? [
          `${unknownAgents} agents or agencies belong to users of an earlier release. \`thinkery token new\` for a user adds them.`,
        ]
      : []),
  ];
  return [fields, ...notes].join("\n");
}

const formatTotals = ({ blobs, bytes }: BlobTotals) => `${blobs} (${formatSize(bytes)})`;
