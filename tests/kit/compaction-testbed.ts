import type { AgentEvent, EventData } from "@thinkery/sdk";
import { expect } from "vitest";
import { type Answer, type ModelServer, openModelServer, type SeenRequest } from "./model-server.ts";
import { openTestbed, type Testbed, type TestAgent } from "./worker/testbed.ts";

/** So many tokens the models of these tests read at once. */
export const contextLimitTokens = 8_000;

/** The providers, by the format they speak. Of their model “known” the limit is known, of “unknown” it is not. */
export const wires = { chat: "local", responses: "openai", messages: "anthropic" } as const;

export interface CompactionTestbed {
  server: ModelServer;
  workshop: Testbed;
  /** What the server was asked since so many calls, told apart. */
  requestsSince(before: number): {
    all: SeenRequest[];
    summaries: SeenRequest[];
    refused: SeenRequest[];
    calls: SeenRequest[];
  };
  /** Everything answers as usual again. */
  reset(): void;
  stop(): Promise<void>;
}

/** A house whose models count what they read, and refuse what is too long. */
export async function openCompactionTestbed(): Promise<CompactionTestbed> {
  const server = await openModelServer();
  const base = `${server.url}/v1`;
  const known = Object.values(wires).map((provider) => [`${provider}:known`, contextLimitTokens]);
  const workshop = await openTestbed({
    config: {
      providers: { openai: { base }, anthropic: { base }, local: { base, wire: "chat" } },
      contextTokens: { ...Object.fromEntries(known), "local:short": contextLimitTokens / 2 },
      models: { summarizer: "local:short" },
      turn: { heartbeatSeconds: 1 },
    },
    env: { OPENAI_API_KEY: "sk-test-0123456789", ANTHROPIC_API_KEY: "sk-ant-0123456789" },
  });
  return {
    server,
    workshop,
    requestsSince(before) {
      const all = server.listRequests().slice(before);
      const refused = new Set(server.listRefused());
      return {
        all,
        summaries: all.filter(isSummary),
        refused: all.filter((request) => refused.has(request)),
        calls: all.filter((request) => !isSummary(request) && !refused.has(request)),
      };
    },
    reset() {
      for (const name of ["known", "unknown"]) server.setLimit(name, contextLimitTokens);
      server.setLimit("short", contextLimitTokens / 2);
      server.answer(answerAsUsual);
    },
    async stop() {
      server.release();
      await workshop.stop();
      await server.stop();
    },
  };
}

export const isSummary = ({ raw }: SeenRequest) => raw.includes("You condense the older part of a conversation");

/** Every summary holds what was said first, as a good one would. */
export const answerAsUsual = (request: SeenRequest): Answer => ({
  text: isSummary(request) ? "Summary: the code word is kumquat." : "Understood.",
});

export const fillerText =
  "All work and no play makes a conversation long, and longer with every word that is said in it. ";

/** 400 messages, as a client hands them in. */
export function createLongHistory(): { role: "user" | "assistant"; content: string }[] {
  return Array.from({ length: 400 }, (_, n) => ({
    role: n % 2 === 0 ? "user" : "assistant",
    content: n === 0 ? `The code word is kumquat. ${fillerText}` : `Message ${n}. ${fillerText.repeat(1 + (n % 3))}`,
  }));
}

/** An agent with a long conversation behind it, close below the point where it would be compacted. */
export async function createLongAgent({ workshop }: CompactionTestbed): Promise<TestAgent> {
  // Without the stock tools: how close it is must not depend on how they are described.
  const blueprint = await workshop.newBlueprint({ tags: ["planning"] });
  const agent = await workshop.newAgent({ model: "local:known", blueprint });
  const messages = [...createLongHistory().slice(0, 90), { role: "user", content: "Just remember this." }];
  expect(await agent.over((await agent.invoke({ messages })).runId)).toMatchObject({ type: "agent.completed" });
  const log = await agent.log();
  expect(getEventData(log, "context.compacted")).toEqual([]);
  expect(getEventData(log, "model.completed").at(-1)?.context?.used).toBeGreaterThan(0.65 * contextLimitTokens);
  return agent;
}

/** What tips it over. */
export const overflowText = fillerText.repeat(60);

export const getEventData = <T extends AgentEvent["type"]>(events: AgentEvent[], type: T) =>
  events.filter((event) => event.type === type).map(({ data }) => data as EventData[T]);

/** The conversation in a request of the chat format, message by message. */
export const getRequestMessages = (request: SeenRequest | undefined) =>
  ((request?.body.messages ?? []) as object[]).map((message) => JSON.stringify(message));

/** No result without its call, in whichever format. */
export function expectPairedResults({ body, raw }: SeenRequest): void {
  const ids = (...patterns: RegExp[]) => patterns.flatMap((pattern) => [...raw.matchAll(pattern)].map(([, id]) => id));
  expect(Object.keys(body)).toContain("tools");
  const calls = ids(
    /"id":"(call_[^"]+)","type":"function"/g,
    /"type":"function_call","call_id":"([^"]+)"/g,
    /"type":"tool_use","id":"([^"]+)"/g,
  );
  for (const id of ids(
    /"tool_call_id":"([^"]+)"/g,
    /"type":"function_call_output","call_id":"([^"]+)"/g,
    /"tool_use_id":"([^"]+)"/g,
  ))
    expect(calls).toContain(id);
}
