import type { ChannelMessage, ChannelTarget } from "@thinkery/sdk";
import { type Command, InvalidArgumentError, Option } from "commander";
import type { Cli } from "../cli.ts";
import { type Connection, connect } from "../connect.ts";
import { formatExamples } from "../help.ts";
import { formatAgencySuffix, parseChannelTarget } from "../target.ts";
import { followChannel } from "./follow.ts";
import { formatChannelMessage } from "./format.ts";
import { explainMissingChannel, parseMessageId, parseSince, readNewest, readSince } from "./messages.ts";

export const channelHelp =
  "channel, as '#general@review', or '#@alice' for direct messages; quote it, or leave out the #";

interface ReadFlags {
  lines?: number;
  since?: string;
  before?: string;
  thread?: string;
  follow?: boolean;
}

const defaultLines = 20;

export function addRead(group: Command, cli: Cli): void {
  group
    .command("read")
    .description("show the newest messages of a channel")
    .argument("[channel]", `${channelHelp} (default: '#general')`)
    .option(
      "-n, --lines <count>",
      `number of messages to show (default: ${defaultLines}, or all with --since)`,
      parseCount,
    )
    .option("--since <start>", "only messages after msg-12, since a date, or of the last 2h")
    .addOption(new Option("--before <id>", "only messages before this one").argParser(parseMessageId))
    .addOption(new Option("--thread <id>", "only this message and its answers").argParser(parseMessageId))
    .option("-f, --follow", "follow new messages until Ctrl+C; with --json, one JSON value per line")
    .addHelpText(
      "after",
      formatExamples(
        ["channel read", "the default channel of the default agency"],
        ["channel read general@review -n 50", ""],
        ["channel read '#general@review' --since 2h -f", "the last two hours, then new messages"],
        ["channel read '#@alice@review'", "your direct messages with alice"],
      ),
    )
    .action(async (text: string | undefined, flags: ReadFlags) =>
      readChannel(cli, await connect(cli), parseChannelTarget(cli, text), flags),
    );
}

/** Prints messages of a channel, and with `follow` those that come. */
export async function readChannel(
  cli: Cli,
  connection: Connection,
  target: ChannelTarget,
  { lines, since, before, thread, follow }: ReadFlags,
): Promise<void> {
  const { client } = connection;
  const from = since === undefined ? undefined : parseSince(since, Date.now());
  const filter = {
    ...(from === undefined ? {} : { since: from }),
    ...(before === undefined ? {} : { before }),
    ...(thread === undefined ? {} : { thread }),
  };
  const read =
    from === undefined || lines !== undefined || before !== undefined
      ? readNewest(client, target, lines ?? defaultLines, filter)
      : readSince(client, target, filter).then((messages) => ({ messages, previous: undefined }));
  const { messages, previous } = await read.catch(async (error: unknown) => {
    throw await explainMissingChannel(client, target, error);
  });
  const print = createMessagePrinter(cli, target.agency);
  if (follow) {
    for (const message of messages) print(message);
    // With `-n 0` nothing is shown of what is there already.
    const last = messages.at(-1) ?? (await readNewest(client, target, 1)).messages.at(-1);
    const options = { target, after: last?.id, ...(thread === undefined ? {} : { thread }), onMessage: print };
    return followChannel(cli, connection, options);
  }
  const { agency, channel } = target;
  cli.output.reply({ agency, channel, messages, ...(previous === undefined ? {} : { previous }) }, () => {
    if (messages.length === 0) return describeNothing(cli, target, lines === 0 || Object.keys(filter).length > 0);
    const more =
      previous === undefined ? [] : [cli.output.dim(`For earlier messages, use --before ${messages[0]?.id}`)];
    return [...more, ...messages.map((message) => formatMessage(cli, message, agency))].join("\n\n");
  });
}

/** Prints messages one after the other, with --json as JSON Lines. */
export function createMessagePrinter(cli: Cli, agency: string): (message: ChannelMessage) => void {
  return (message) =>
    cli.output.isJson
      ? cli.output.writeJsonLine(message)
      : cli.output.writeText(`${formatMessage(cli, message, agency)}\n\n`);
}

function formatMessage(cli: Cli, message: ChannelMessage, agency: string): string {
  const suffix = formatAgencySuffix(cli, agency);
  return formatChannelMessage(message, {
    output: cli.output,
    agencyFlag: suffix && ` -a ${suffix}`,
    now: Date.now(),
  });
}

function describeNothing(cli: Cli, { channel, agency }: ChannelTarget, isFiltered: boolean): string {
  const name = `#${channel}${formatAgencySuffix(cli, agency)}`;
  if (isFiltered) return `No such messages in ${name}.`;
  return `No messages in ${name} yet. Write one with \`thinkery channel send '${name}' "Hello, @alice!"\`.`;
}

function parseCount(text: string): number {
  if (!/^\d{1,5}$/.test(text) || Number(text) > 10_000)
    throw new InvalidArgumentError("Expected a whole number up to 10000.");
  return Number(text);
}
