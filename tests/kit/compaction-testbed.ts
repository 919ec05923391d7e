import type { AgentEvent, EventData } from "@thinkery/sdk";
import { expect } from "vitest";
import { type Answer, type ModelServer, openModelServer, type RecordedRequest } from "./model-server.ts";
import { openTestbed, type Testbed, type TestAgent } from "./worker/testbed.ts";

/** Context limit of the models in these tests. */
export const contextLimitTokens = 8_600;

/** The providers by wire format. The limit of their model `known` is configured, that of `unknown` is not. */
export const wires = { chat: "local", responses: "openai", messages: "anthropic" } as const;

export interface CompactionTestbed {
  server: ModelServer;
  testbed: Testbed;
  /** The requests after the first `before` ones, by kind. */
  requestsSince(before: number): {
    all: RecordedRequest[];
    summaries: RecordedRequest[];
    refused: RecordedRequest[];
    calls: RecordedRequest[];
  };
  /** Restores the limits and the usual answers. */
  reset(): void;
  stop(): Promise<void>;
}

/** A host whose models count their input and reject what is too long. */
export async function openCompactionTestbed(): Promise<CompactionTestbed> {
  const server = await openModelServer();
  const baseUrl = `${server.url}/v1`;
  const known = Object.values(wires).map((provider) => [`${provider}:known`, contextLimitTokens]);
  const testbed = await openTestbed({
    config: {
      providers: { openai: { baseUrl }, anthropic: { baseUrl }, local: { baseUrl, wire: "chat" } },
      contextTokens: { ...Object.fromEntries(known), "local:short": contextLimitTokens / 2 },
      models: { summarizer: "local:short" },
      turn: { heartbeatSeconds: 1 },
    },
    env: { OPENAI_API_KEY: "sk-test-0123456789", ANTHROPIC_API_KEY: "sk-ant-0123456789" },
  });
  return {
    server,
    testbed,
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
      await testbed.stop();
      await server.stop();
    },
  };
}

export const isSummary = ({ raw }: RecordedRequest) => raw.includes("You summarize the older part of a conversation");

/** Summaries keep the code word from the first message, as good ones would. */
export const answerAsUsual = (request: RecordedRequest): Answer => ({
  text: isSummary(request) ? "Summary: the code word is kumquat." : "Understood.",
});

export const fillerText =
  "All work and no play makes a conversation long, and longer with every word that is said in it. ";

/** 400 messages, as a client sends them. */
export function createLongHistory(): { role: "user" | "assistant"; content: string }[] {
  return Array.from({ length: 400 }, (_, n) => ({
    role: n % 2 === 0 ? "user" : "assistant",
    content: n === 0 ? `The code word is kumquat. ${fillerText}` : `Message ${n}. ${fillerText.repeat(1 + (n % 3))}`,
  }));
}

/** Creates an agent whose conversation is just below the compaction threshold. */
export async function createLongAgent({ testbed }: CompactionTestbed): Promise<TestAgent> {
  // Without the stock tools, so that the distance to the threshold does not depend on their descriptions.
  const blueprint = await testbed.newBlueprint({ tags: ["planning"] });
  const agent = await testbed.newAgent({ model: "local:known", blueprint });
  const messages = [...createLongHistory().slice(0, 90), { role: "user", content: "Just remember this." }];
  expect(await agent.waitForEnd((await agent.invoke({ messages })).runId)).toMatchObject({ type: "agent.completed" });
  const log = await agent.log();
  expect(getEventData(log, "context.compacted")).toEqual([]);
  expect(getEventData(log, "model.completed").at(-1)?.context?.used).toBeGreaterThan(0.65 * contextLimitTokens);
  return agent;
}

/** A message long enough to trigger compaction. */
export const overflowText = fillerText.repeat(60);

export const getEventData = <T extends AgentEvent["type"]>(events: AgentEvent[], type: T) =>
  events.filter((event) => event.type === type).map(({ data }) => data as EventData[T]);

/** The messages of a chat-format request, each as JSON. */
export const getRequestMessages = (request: RecordedRequest | undefined) =>
  ((request?.body.messages ?? []) as object[]).map((message) => JSON.stringify(message));

/** Checks, in any format, that every tool result has its call. */
export function expectPairedResults({ body, raw }: RecordedRequest): void {
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
