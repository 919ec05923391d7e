import type { ChannelMessage, ChannelMessageList, ChannelQuery, TeamFrame } from "@thinkery/sdk";
import { createTeamLink, type LinkState } from "./team-link.ts";

/** A connection to an agency whose other end is a test. */
export function createLinkDouble() {
  let sendFrame: ((frame: TeamFrame) => void) | undefined;
  let setState: ((state: LinkState["state"], reason?: string) => void) | undefined;
  const counts = { opened: 0, closed: 0 };
  const link = createTeamLink((onFrame, onConnection) => {
    counts.opened++;
    sendFrame = onFrame;
    setState = onConnection;
    return () => void counts.closed++;
  });
  return {
    link,
    counts,
    send: (frame: TeamFrame) => sendFrame?.(frame),
    setState: (state: LinkState["state"], reason?: string) => setState?.(state, reason),
    /** What every connection begins with. */
    sync() {
      setState?.("open");
      sendFrame?.({ type: "sync", agents: [] });
    },
  };
}

export const createMessage = (number: number, change: Partial<ChannelMessage> = {}): ChannelMessage => ({
  id: `msg-${number}`,
  channel: "general",
  from: "bob",
  fromKind: "agent",
  content: "Hello",
  to: [],
  createdAt: "2030-01-01T00:00:00Z",
  ...change,
});

/** Lists messages as a host does. */
export function listAsHost(
  all: readonly ChannelMessage[],
  { since, until, before, newest, limit = 100, thread }: Partial<ChannelQuery>,
): ChannelMessageList {
  const toNumber = (id: string) => Number(id.slice("msg-".length));
  const messages = all.filter(
    ({ id, thread: root }) =>
      (since === undefined || toNumber(id) > toNumber(since)) &&
      (until === undefined || toNumber(id) <= toNumber(until)) &&
      (before === undefined || toNumber(id) < toNumber(before)) &&
      (thread === undefined || id === thread || root === thread),
  );
  const hasMore = messages.length > limit;
  if (newest !== undefined || before !== undefined) {
    const page = messages.slice(-limit);
    return { messages: page, ...(hasMore && page[0] ? { previous: page[0].id } : {}) };
  }
  const page = messages.slice(0, limit);
  const last = page.at(-1);
  return { messages: page, ...(hasMore && last ? { next: last.id } : {}) };
}
