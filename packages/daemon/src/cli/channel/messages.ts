import { type ChannelMessage, type ChannelTarget, fail, isThinkeryError } from "@thinkery/sdk";
import { type Client, withRetry } from "@thinkery/sdk/client";
import { explainMissingAgency } from "../agents.ts";
import { parseDuration } from "../duration.ts";

const maxPage = 500;

export interface MessageFilter {
  thread?: string;
  /** The id of a message, or an ISO date. */
  since?: string;
  before?: string;
}

/** Returns the newest messages of a channel, oldest first, and where the ones before them end. */
export async function readNewest(
  client: Client,
  { agency, channel }: ChannelTarget,
  limit: number,
  filter: MessageFilter = {},
): Promise<{ messages: ChannelMessage[]; previous?: string }> {
  let messages: ChannelMessage[] = [];
  let { before } = filter;
  // A page may hold fewer messages than asked for, if they are long.
  while (messages.length < limit) {
    const query = {
      ...filter,
      newest: "1" as const,
      limit: Math.min(limit - messages.length, maxPage),
      ...(before === undefined ? {} : { before }),
    };
    const page = await withRetry((signal) =>
      client.call("listChannelMessages", { params: { agency, channel }, query, signal }),
    );
    messages = [...page.messages, ...messages];
    before = page.previous;
    if (before === undefined) return { messages };
  }
  return { messages, ...(before === undefined ? {} : { previous: before }) };
}

/** Returns all messages since one of them or a date, oldest first. */
export async function readSince(
  client: Client,
  { agency, channel }: ChannelTarget,
  filter: MessageFilter,
): Promise<ChannelMessage[]> {
  const messages: ChannelMessage[] = [];
  for (let after: string | undefined; ;) {
    const query = { ...filter, limit: maxPage, ...(after === undefined ? {} : { after }) };
    const page = await withRetry((signal) =>
      client.call("listChannelMessages", { params: { agency, channel }, query, signal }),
    );
    messages.push(...page.messages);
    if (page.next === undefined || page.next === after) return messages;
    after = page.next;
  }
}

/** Returns the error of a request to a channel, with what to do if there is no such channel or agency. */
export async function explainMissingChannel(
  client: Client,
  { agency }: ChannelTarget,
  error: unknown,
): Promise<unknown> {
  const explained = await explainMissingAgency(client, agency, error);
  if (!isThinkeryError(explained) || !/^Channel “[^”]*” not found\.$/.test(explained.message)) return explained;
  return fail("not_found", `${explained.message} List them with \`thinkery channel ls @${agency}\`.`);
}

/** Accepts `msg-12` and `12`. */
export function parseMessageId(text: string): string {
  const [, digits] = /^(?:msg-)?(\d{1,15})$/.exec(text) ?? [];
  if (digits === undefined) throw fail("bad_request", `“${text}” is not the id of a message, such as msg-12.`);
  return `msg-${digits}`;
}

/** Parses where messages begin: after a message, at a date, or a time ago such as `2h`. */
export function parseSince(text: string, now: number): string {
  if (/^(?:msg-)?\d{1,15}$/.test(text)) return parseMessageId(text);
  if (/^\d+[smhdw]$/.test(text)) return new Date(now - parseDuration(text) * 1000).toISOString();
  const time = /^\d{4}-\d\d-\d\d/.test(text) ? Date.parse(text) : Number.NaN;
  if (!Number.isNaN(time)) return new Date(time).toISOString();
  throw fail("bad_request", `“${text}” is no beginning. Examples: msg-12, 2h, 2026-01-31, 2026-01-31T18:00.`);
}
