import type { AgentTarget, ChannelMessage, Message } from "@thinkery/sdk";
import { fail } from "@thinkery/sdk";
import { type Client, withRetry } from "@thinkery/sdk/client";
import { type Command, InvalidArgumentError } from "commander";
import { findAgent } from "../agents.ts";
import { formatChannelLine } from "../channel/format.ts";
import { listChannels } from "../channel/manage.ts";
import { readNewest } from "../channel/messages.ts";
import { readChannel } from "../channel/read.ts";
import type { Cli } from "../cli.ts";
import { type Connection, connect } from "../connect.ts";
import { followAgent } from "../conversation/follow.ts";
import { formatMessage, toOneLine } from "../conversation/lines.ts";
import { formatExamples } from "../help.ts";
import { mapAgents } from "../lists.ts";
import { getDefaultAgency, isChannelTarget, parseChannelTarget, parseTarget } from "../target.ts";
import { summarizeWaits } from "../waits/explain.ts";
import { listWaits } from "../waits/inbox.ts";

interface PeekFlags {
  lines: number;
  follow?: boolean;
}

const maxLineChars = 500;
const maxMessageChars = 160;

export function addPeek(program: Command, cli: Cli): void {
  program
    .command("peek")
    .description("show the latest messages of an agent or a channel, or all agents of an agency")
    .argument("[target]", "alice, alice@review, '#general@review' (in quotes) or @review (default: @global)")
    .option("-n, --lines <count>", "number of messages to show", parseCount, 10)
    .option("-f, --follow", "follow new messages until Ctrl+C")
    .addHelpText(
      "after",
      formatExamples(
        ["peek", "one line per agent"],
        ["peek alice -n 20 -f", "the last 20 messages, then new ones"],
        ["peek '#general@review'", "see also `thinkery channel read`"],
      ),
    )
    .action(async (text: string | undefined, flags: PeekFlags) => {
      if (text !== undefined && isChannelTarget(text)) {
        const channel = parseChannelTarget(cli, text);
        return readChannel(cli, await connect(cli), channel, flags);
      }
      const target = parseTarget(cli, text ?? `@${getDefaultAgency(cli)}`);
      if (flags.follow && cli.output.isJson) {
        throw fail("bad_request", "--json and --follow cannot be combined.");
      }
      if (flags.follow && target.kind === "agency")
        throw fail("bad_request", "--follow requires an agent, not an agency.");
      const connection = await connect(cli);
      await (target.kind === "agent"
        ? showAgent(cli, connection, target, flags)
        : showAgency(cli, connection.client, target.agency));
    });
}

async function showAgent(
  cli: Cli,
  connection: Connection,
  target: AgentTarget,
  { lines, follow }: PeekFlags,
): Promise<void> {
  await findAgent(connection.client, target);
  if (follow) return followAgent(cli, connection, target, lines);
  const messages = await readLastMessages(connection.client, target, lines);
  const waits = await listWaits(connection.client, target);
  cli.output.reply({ agent: target.agent, agency: target.agency, messages, ...waits }, () =>
    messages.length === 0
      ? `No messages yet. Start a conversation with \`thinkery chat ${target.agent}@${target.agency}\`.`
      : [
          ...messages.map((message) => formatMessage(message, maxLineChars)),
          ...summarizeWaits(cli, waits, target).map((line) => cli.output.dim(`Waits for ${line}`)),
        ].join("\n"),
  );
}

async function readLastMessages(client: Client, { agency, agent }: AgentTarget, limit: number): Promise<Message[]> {
  if (limit === 0) return [];
  const query = { limit };
  const { messages } = await withRetry((signal) =>
    client.call("listMessages", { params: { agency, agent }, query, signal }),
  );
  return messages;
}

async function showAgency(cli: Cli, client: Client, agency: string): Promise<void> {
  const agents = await mapAgents(client, agency, async ({ name: agent }) => {
    const params = { agency, agent };
    const [{ state, run }, [last]] = await Promise.all([
      withRetry((signal) => client.call("getState", { params, signal })),
      readLastMessages(client, { kind: "agent", ...params }, 1),
    ]);
    const { pendingContinuation: waitsFor } = state;
    return {
      agent,
      status: run.status,
      ...(waitsFor ? { waitsFor } : {}),
      ...(state.title ? { title: state.title } : {}),
      ...(last ? { last } : {}),
    };
  });
  const messages = await readLatest(client, agency);
  cli.output.reply({ agency, agents, messages }, () => {
    if (agents.length === 0) return `No agents in ${agency}. Create one with \`thinkery new <name>\`.`;
    const rows = agents.map(({ agent, status, waitsFor, title, last }) => [
      agent,
      waitsFor ? `${status} (${toOneLine(waitsFor.prompt ?? waitsFor.kind, 60)})` : status,
      title ?? "-",
      last ? formatMessage(last, 60) : "-",
    ]);
    const table = cli.output.formatTable(["AGENT", "STATUS", "TITLE", "LAST"], rows);
    return [table, ...formatLatest(messages)].join("\n");
  });
}

const maxChannels = 5;
const maxLatest = 5;

/** Returns the newest messages of the channels that were written to last, oldest first. */
async function readLatest(client: Client, agency: string): Promise<ChannelMessage[]> {
  const channels = (await listChannels(client, agency))
    .filter(({ kind, messages }) => kind === "channel" && messages > 0)
    .toSorted((a, b) => (b.lastMessageAt ?? "").localeCompare(a.lastMessageAt ?? ""));
  const found = await Promise.all(
    channels
      .slice(0, maxChannels)
      .map(({ name }) => readNewest(client, { kind: "channel", agency, channel: name }, maxLatest)),
  );
  return found
    .flatMap(({ messages }) => messages)
    .toSorted((a, b) => a.createdAt.localeCompare(b.createdAt))
    .slice(-maxLatest);
}

const formatLatest = (messages: readonly ChannelMessage[]) =>
  messages.length === 0 ? [] : ["", ...messages.map((message) => formatChannelLine(message, maxMessageChars))];

function parseCount(text: string): number {
  const count = Number(text);
  if (!/^\d{1,3}$/.test(text) || count > 500) throw new InvalidArgumentError("Expected a whole number up to 500.");
  return count;
}
