import { afterAll, beforeAll, beforeEach } from "vitest";
import { type Answer, type ModelServer, openModelServer } from "../kit/model-server.ts";
import { type BareWorker, startBareWorker } from "../kit/workerd.ts";

export let server: ModelServer;
let worker: BareWorker;

/** Starts one Worker with all adapters for a test file, and a model server for each of its tests. */
export function useModels(): void {
  beforeAll(async () => {
    worker = await startBareWorker(new URL("models.worker.ts", import.meta.url), {
      bindings: [`(name = "MODELS", service = "models")`],
      services: [`(name = "models", network = (allow = ["public", "private", "local"]))`],
    });
  });

  afterAll(() => worker?.stop());

  beforeEach(async () => {
    server = await openModelServer();
    return () => server.stop();
  });
}

export interface Adapter {
  name: string;
  base?: string;
  model?: string;
  /** Features that the AI SDK's client or the format does not support. */
  lacks?: ("reasoning" | "malformed" | "replay" | "result images")[];
}

export const ownAdapters: Adapter[] = [
  { name: "chat" },
  { name: "responses", model: "gpt-5" },
  { name: "messages", model: "claude-sonnet-4-5" },
];

export const adapters: Adapter[] = [
  ...ownAdapters,
  { name: "workers-ai" },
  { name: "google", base: "/v1beta", model: "gemini-2.5-pro", lacks: ["malformed"] },
  { name: "sdk-chat", model: "gpt-4o", lacks: ["reasoning", "replay", "result images"] },
  { name: "sdk-responses", model: "gpt-5" },
  { name: "sdk-messages", model: "claude-sonnet-4-5" },
  { name: "sdk-compatible", lacks: ["replay", "result images"] },
];

export const key = "sk-very-secret-key";
const tool = {
  name: "add",
  description: "Adds.",
  parameters: { type: "object", properties: { a: { type: "number" } } },
};
export const defaultRequest = { system: "Be brief.", messages: [{ role: "user", content: "Hi" }], tools: [tool] };

/** Makes one model call in workerd and returns everything it produced. */
export async function run(
  { name, base = "/v1", model = "test-model" }: Adapter,
  request: object = defaultRequest,
  options: object = {},
) {
  const call = {
    adapter: name,
    id: `test:${model}`,
    model,
    base: server.url + base,
    key,
    keyName: "TEST_API_KEY",
    request,
    ...options,
  };
  const response = await fetch(worker.url, { method: "POST", body: JSON.stringify(call) });
  return response.json();
}

interface RecordedPart {
  type: string;
  text?: string;
  call?: { id: string; input: unknown };
}

export const joinText = (parts: RecordedPart[], type: string) =>
  parts
    .filter((part) => part.type === type)
    .map(({ text }) => text)
    .join("");
export const listCalls = (parts: RecordedPart[]) =>
  parts.filter(({ type }) => type === "tool-call").map(({ call }) => call!);

export const fullAnswer: Answer = {
  reasoning: ["Let me ", "think."],
  text: ["Hello ", "world", "."],
  toolCalls: [
    { id: "call_a", name: "add", input: { a: 1, text: 'with "quotes" and \\ and ü' } },
    { id: "call_b", name: "add", input: { a: 2, deep: { list: [1, 2, 3] } } },
    { id: "call_c", name: "add", input: {} },
  ],
};
