import { type ChannelMessage, type ChannelTarget, isThinkeryError, type InboxItem } from "@thinkery/sdk";
import { type Client, withRetry } from "@thinkery/sdk/client";
import { ChangeSignal } from "../change-signal.ts";
import type { Connection } from "../connect.ts";
import { readAllPages } from "../lists.ts";
import { wait } from "../wait.ts";
import { listWaits, type OpenWaits, toAgentTarget } from "../waits/inbox.ts";
import { readSince } from "./messages.ts";
import { watchTeam } from "./watch-team.ts";

interface WaitOptions {
  target: ChannelTarget;
  message: Pick<ChannelMessage, "id" | "to">;
  /** In milliseconds. */
  timeoutMs: number | undefined;
  /** Called with what is written to the channel meanwhile. */
  onMessage(message: ChannelMessage): void;
}

export interface WaitResult {
  /** Agents that could not handle it, with the reason. */
  givenUp: { agent: string; error: string }[];
  /** Agents that have not handled it. */
  open: string[];
  /** What those agents need a person for. */
  waits?: OpenWaits;
}

const maxQuietMs = 2000;
/** An agent that works sends many frames. */
const minPauseMs = 200;

/** Waits until the agents that a message woke have handled it, or one of them needs a person. */
export async function waitUntilHandled(
  connection: Connection,
  { target, message, timeoutMs, onMessage }: WaitOptions,
): Promise<WaitResult> {
  const { client } = connection;
  const { agency } = target;
  const changes = new ChangeSignal();
  const timeout = timeoutMs === undefined ? new AbortController().signal : AbortSignal.timeout(timeoutMs);
  const stop = await watchTeam(connection, agency, { onChange: () => changes.set() });
  let last = message.id;
  try {
    for (;;) {
      changes.clear();
      const open = await findOpen(client, agency, message);
      for (const one of await readSince(client, target, { since: last })) {
        last = one.id;
        onMessage(one);
      }
      if (open.length === 0) return { givenUp: await findGivenUp(client, agency, message), open };
      const waits = await findWaits(client, agency, open);
      if (waits) return { givenUp: [], open, waits };
      if (timeout.aborted) return { givenUp: [], open };
      await wait(minPauseMs, timeout);
      await changes.wait(maxQuietMs, timeout);
    }
  } finally {
    stop();
  }
}

/** Returns the agents whose inboxes have the message as open. */
async function findOpen(client: Client, agency: string, { id, to }: WaitOptions["message"]): Promise<string[]> {
  const inboxes = await Promise.all(
    to.map(async (agent) => ({ agent, items: await listInbox(client, { agency, agent }, "open") })),
  );
  return inboxes.filter(({ items }) => items.some((item) => item.id === id)).map(({ agent }) => agent);
}

async function findGivenUp(
  client: Client,
  agency: string,
  { id, to }: WaitOptions["message"],
): Promise<WaitResult["givenUp"]> {
  const items = await Promise.all(to.map((agent) => listInbox(client, { agency, agent }, "given_up")));
  return items
    .flat()
    .filter((item) => item.id === id)
    .map(({ agent, error = "unknown reason" }) => ({ agent, error }));
}

/** Returns undefined if they do not need a person. */
async function findWaits(client: Client, agency: string, agents: readonly string[]): Promise<OpenWaits | undefined> {
  const { approvals, questions } = await listWaits(client, { kind: "agency", agency });
  const isOf = ({ agent }: { agent: string }) =>
    agents.includes(toAgentTarget(agent, client.user).agent.split("/")[0] ?? "");
  const found = { approvals: approvals.filter(isOf), questions: questions.filter(isOf) };
  return found.approvals.length + found.questions.length > 0 ? found : undefined;
}

/** Returns items of an agent's inbox. An agent that was deleted has none. */
export async function listInbox(
  client: Client,
  params: { agency: string; agent: string },
  status: InboxItem["status"] | "open" | "all",
): Promise<InboxItem[]> {
  try {
    return await readAllPages(async (page) => {
      const query = { ...page, status };
      const { items, next } = await withRetry((signal) => client.call("listInbox", { params, query, signal }));
      return { items, next };
    });
  } catch (error) {
    if (isThinkeryError(error) && error.code === "not_found") return [];
    throw error;
  }
}
