import { fail, type InboxChange, type InboxItem, type InboxStatus, inboxStatuses } from "@thinkery/sdk";
import { type Client, withRetry } from "@thinkery/sdk/client";
import { type Command, Option } from "commander";
import { explainMissingAgency, findAgent } from "../agents.ts";
import { parseMessageId } from "../channel/messages.ts";
import { listInbox } from "../channel/wait.ts";
import type { Cli } from "../cli.ts";
import { connect } from "../connect.ts";
import { toOneLine } from "../conversation/lines.ts";
import { parseDuration } from "../duration.ts";
import { formatWhen } from "../format-when.ts";
import { formatExamples } from "../help.ts";
import { listMembers } from "../lists.ts";
import { type AgentTarget, getDefaultAgency, parseAgentTarget, parseTarget } from "../target.ts";

const agentHelp = "agent, as alice or alice@review";
const idsHelp = "ids from `inbox ls`, as msg-12 or 12";
const maxContentChars = 60;

export function addInbox(program: Command, cli: Cli): void {
  const group = program
    .command("inbox")
    .description("show what agents have to handle, and acknowledge it, put it off or deliver it again")
    .addHelpText(
      "after",
      formatExamples(
        ["inbox ls @review", "what each agent has"],
        ["inbox ls alice", "its open items"],
        ["inbox retry alice msg-12", "after it was given up"],
      ),
    );
  addList(group, cli);
  addAck(group, cli);
  addDefer(group, cli);
  addRetry(group, cli);
}

function addList(group: Command, cli: Cli): void {
  const statuses = ["open", "all", ...inboxStatuses] as const;
  group
    .command("ls")
    .description("list the items of an agent's inbox, or count those of all agents")
    .argument("[target]", `${agentHelp}, or an agency, as @review (default: @global)`)
    .addOption(
      new Option("--status <status>", "only items of an agent with this status (default: open)").choices(statuses),
    )
    .addHelpText(
      "after",
      formatExamples(["inbox ls", ""], ["inbox ls alice@review", ""], ["inbox ls alice --status given_up", ""]),
    )
    .action(async (text: string | undefined, { status }: { status?: InboxStatus | "open" | "all" }) => {
      const target = parseTarget(cli, text ?? `@${getDefaultAgency(cli)}`);
      const { client } = await connect(cli);
      if (target.kind === "agent") return listItems(cli, client, target, status ?? "open");
      if (status !== undefined) throw fail("bad_request", "--status requires an agent, not an agency.");
      await listCounts(cli, client, target.agency);
    });
}

async function listItems(
  cli: Cli,
  client: Client,
  target: AgentTarget,
  status: InboxStatus | "open" | "all",
): Promise<void> {
  const { agency, agent } = target;
  await findAgent(client, target);
  const items = await listInbox(client, { agency, agent }, status);
  const hasNothing = items.length === 0 && status === "open";
  const givenUp = hasNothing ? await listInbox(client, { agency, agent }, "given_up") : [];
  cli.output.reply({ items }, () => {
    if (hasNothing) {
      const hint = givenUp.length === 0 ? "" : ` See what was given up (${givenUp.length}) with --status given_up.`;
      return `${agent} has nothing to handle.${hint}`;
    }
    if (items.length === 0) return `${agent} has no such items.`;
    const now = Date.now();
    const rows = items.map((item) => [
      item.id,
      item.from,
      `#${item.channel}`,
      item.priority === "normal" ? item.status : `${item.status} (${item.priority})`,
      String(item.attempts),
      formatWhen(item.createdAt, now),
      toOneLine(item.content, maxContentChars),
      describeItem(item, now),
    ]);
    return cli.output.formatTable(["ID", "FROM", "CHANNEL", "STATUS", "ATTEMPTS", "SINCE", "CONTENT", "NOTE"], rows);
  });
}

function describeItem({ error, dueAt, runId }: InboxItem, now: number): string {
  return [
    ...(dueAt === undefined ? [] : [`again at ${formatWhen(dueAt, now)}`]),
    ...(runId === undefined ? [] : [`turn ${runId}`]),
    ...(error === undefined ? [] : [error]),
  ].join("; ");
}

async function listCounts(cli: Cli, client: Client, agency: string): Promise<void> {
  const members = await listMembers(client, agency).catch(async (error: unknown) => {
    throw await explainMissingAgency(client, agency, error);
  });
  const inboxes = members.flatMap((member) =>
    member.kind === "agent" ? [{ agent: member.name, ...member.inbox }] : [],
  );
  cli.output.reply({ agency, inboxes }, () => {
    if (inboxes.length === 0) return `No agents in ${agency}. Create one with \`thinkery new <name>\`.`;
    const rows = inboxes.map(({ agent, pending, seen, deferred, givenUp }) =>
      [agent, pending, seen, deferred, givenUp].map(String),
    );
    return cli.output.formatTable(["AGENT", "PENDING", "SEEN", "DEFERRED", "GIVEN UP"], rows);
  });
}

function addAck(group: Command, cli: Cli): void {
  group
    .command("ack")
    .description("mark items as handled, so that the agent need not handle them")
    .argument("<agent>", agentHelp)
    .argument("[id...]", idsHelp)
    .option("--until <id|date>", "all items up to this message or date")
    .addHelpText(
      "after",
      formatExamples(["inbox ack alice msg-12 msg-15", ""], ["inbox ack alice@review --until msg-40", ""]),
    )
    .action(async (text: string, given: string[], { until }: { until?: string }) => {
      if (given.length > 0 === (until !== undefined)) throw fail("bad_request", "Pass either ids or --until.");
      const body = until === undefined ? { ids: given.map(parseMessageId) } : { until: toBoundary(until) };
      await change(cli, text, "Acknowledged", (client, params) => client.call("ackInbox", { params, body }));
    });
}

/** A number alone is the id of a message. */
const toBoundary = (text: string) => (/^\d{1,15}$/.test(text) ? parseMessageId(text) : text);

function addDefer(group: Command, cli: Cli): void {
  group
    .command("defer")
    .description("put items off until later")
    .argument("<agent>", agentHelp)
    .argument("<id...>", idsHelp)
    .addOption(new Option("--for <duration>", "for 90s, 2h or 3d (default: 5m)").argParser(parseDuration))
    .option("--until <date>", "until 2026-12-24T18:00")
    .addHelpText(
      "after",
      formatExamples(["inbox defer alice msg-12 --for 2h", ""], ["inbox defer alice 12 13 --until 2026-12-24", ""]),
    )
    .action(async (text: string, given: string[], flags: { for?: number; until?: string }) => {
      if (flags.for !== undefined && flags.until !== undefined)
        throw fail("bad_request", "Pass either --for or --until.");
      const until = flags.for ?? (flags.until === undefined ? undefined : toDate(flags.until));
      const ids = given.map(parseMessageId);
      await change(cli, text, "Deferred", async (client, params) => {
        const items: InboxItem[] = [];
        for (const id of ids) {
          const body = { id, ...(until === undefined ? {} : { until }) };
          items.push(...(await client.call("deferInbox", { params, body })).items);
        }
        return { items };
      });
    });
}

/** Interprets a date without a zone in that of this machine, not of the host. */
function toDate(text: string): string {
  const time = Date.parse(text);
  if (Number.isNaN(time)) throw fail("bad_request", `“${text}” is not a date. Example: 2026-12-24T18:00.`);
  return new Date(time).toISOString();
}

function addRetry(group: Command, cli: Cli): void {
  group
    .command("retry")
    .description("deliver items again that were given up or put off")
    .argument("<agent>", agentHelp)
    .argument("<id...>", idsHelp)
    .addHelpText("after", formatExamples(["inbox retry alice msg-12", ""], ["inbox retry alice@review 12 13", ""]))
    .action(async (text: string, given: string[]) => {
      const body = { ids: given.map(parseMessageId) };
      await change(cli, text, "Delivering again", (client, params) => client.call("retryInbox", { params, body }));
    });
}

/** Changes items of an agent's inbox, and says which. */
async function change(
  cli: Cli,
  text: string,
  done: string,
  send: (client: Client, params: { agency: string; agent: string }) => Promise<InboxChange>,
): Promise<void> {
  const target = parseAgentTarget(cli, text);
  const { client } = await connect(cli);
  const { agency, agent } = target;
  await findAgent(client, target);
  const changed = await withRetry(() => send(client, { agency, agent }));
  const { items, omitted = 0 } = changed;
  cli.output.reply(changed, () => {
    const more = omitted > 0 ? ` and ${omitted} more` : "";
    return items.length === 0 ? "Nothing to change." : `${done}: ${items.map(({ id }) => id).join(", ")}${more}.`;
  });
}
