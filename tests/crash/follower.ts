import type { AgentEvent } from "@thinkery/sdk";
import { readEvents } from "../kit/sse.ts";

export interface Follower {
  /** What it was told under each number, in the order in which it was told. */
  received: { seq: number; text: string }[];
  stop(): Promise<void>;
}

interface FollowOptions {
  url: string;
  token: string;
  /** May end a connection that works. */
  leave(): boolean;
  onEvent(event: AgentEvent): void;
}

/** Reads an agent's events as a browser would: whenever the connection ends, it asks for what came after the last. */
export function follow({ url, token, leave, onEvent }: FollowOptions): Follower {
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
      if (leave()) return;
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
