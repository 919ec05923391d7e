import type { AgentEvent } from "@thinkery/sdk";
import { readEvents } from "../kit/sse.ts";

export interface Follower {
  /** The events in the order in which they arrived. */
  received: { seq: number; text: string }[];
  stop(): Promise<void>;
}

interface FollowOptions {
  url: string;
  token: string;
  /** Called after each event; if it returns true, the follower disconnects and connects again. */
  shouldReconnect(): boolean;
  onEvent(event: AgentEvent): void;
}

/** Reads an agent's events as a browser does: when the connection ends, it reconnects after the last event. */
export function follow({ url, token, shouldReconnect, onEvent }: FollowOptions): Follower {
  const received: Follower["received"] = [];
  const stopping = new AbortController();

  async function listen(): Promise<void> {
    const response = await fetch(url, {
      headers: {
        authorization: `Bearer ${token}`,
        accept: "text/event-stream",
        "last-event-id": String(received.at(-1)?.seq ?? 0),
      },
      signal: stopping.signal,
    });
    if (!response.ok) return;
    for await (const { id, data } of readEvents(response)) {
      received.push({ seq: Number(id), text: data });
      onEvent(JSON.parse(data) as AgentEvent);
      if (shouldReconnect()) return;
    }
  }

  const listening = (async () => {
    while (!stopping.signal.aborted) {
      await listen().catch(() => {});
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  })();
  return {
    received,
    async stop() {
      stopping.abort();
      await listening;
    },
  };
}
