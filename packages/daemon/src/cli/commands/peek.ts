import type { AgentTarget, Message } from "@thinkery/sdk";
import { fail } from "@thinkery/sdk";
import { type Client, withRetry } from "@thinkery/sdk/client";
import { type Command, InvalidArgumentError } from "commander";
import { findAgent } from "../agents.ts";
import type { Cli } from "../cli.ts";
import { type Connection, connect } from "../connect.ts";
import { followAgent } from "../conversation/follow.ts";
import { formatMessage, toOneLine } from "../conversation/lines.ts";
import { formatExamples } from "../help.ts";
import { mapAgents } from "../lists.ts";
import { getDefaultAgency, parseTarget } from "../target.ts";
import { summarizeWaits } from "../waits/explain.ts";
import { listWaits } from "../waits/inbox.ts";

interface PeekFlags {
  lines: number;
  follow?: boolean;
}

const maxLineChars = 500;

export function addPeek(program: Command, cli: Cli): void {
  program
    .command("peek")
    .description("show an agent's latest messages, or all agents of an agency")
    .argument("[target]", "alice, alice@review or @review (default: @global)")
    .option("-n, --lines <count>", "number of messages to show", parseCount, 10)
    .option("-f, --follow", "follow new messages until Ctrl+C")
    .addHelpText(
      "after",
      formatExamples(["peek", "one line per agent"], ["peek alice -n 20 -f", "the last 20 messages, then new ones"]),
    )
    .action(async (text: string | undefined, flags: PeekFlags) => {
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
  cli.output.reply({ agency, agents }, () => {
    if (agents.length === 0) return `No agents in ${agency}. Create one with \`thinkery new <name>\`.`;
    const rows = agents.map(({ agent, status, waitsFor, title, last }) => [
      agent,
      waitsFor ? `${status} (${toOneLine(waitsFor.prompt ?? waitsFor.kind, 60)})` : status,
      title ?? "-",
      last ? formatMessage(last, 60) : "-",
    ]);
    return cli.output.formatTable(["AGENT", "STATUS", "TITLE", "LAST"], rows);
  });
}

function parseCount(text: string): number {
  const count = Number(text);
  if (!/^\d{1,3}$/.test(text) || count > 500) throw new InvalidArgumentError("Expected a whole number up to 500.");
  return count;
}
