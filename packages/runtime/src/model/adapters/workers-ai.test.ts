import { expect, test } from "vitest";
import type { ModelPart } from "../model.ts";
import { createWorkersAiModel } from "./workers-ai.ts";

const request = {
  system: "Be brief.",
  messages: [
    { role: "user" as const, content: "Hi" },
    { role: "assistant" as const, content: "", toolCalls: [{ id: "a", name: "look", input: {} }] },
    { role: "tool" as const, callId: "a", name: "look", content: "seen" },
  ],
  tools: [],
};

async function call(run: (model: string, inputs: any) => Promise<Response>): Promise<ModelPart[]> {
  const model = createWorkersAiModel({ id: "workers-ai:@cf/x", model: "@cf/x", binding: { run } });
  const parts: ModelPart[] = [];
  for await (const batch of model.stream(request, new AbortController().signal)) parts.push(...batch);
  return parts;
}

test("the binding receives the model separately from the inputs, and no null content", async () => {
  const seen: any[] = [];
  const parts = await call(async (model, inputs) => {
    seen.push(model, inputs);
    return new Response('data: {"response":"Hel"}\n\ndata: {"response":"lo"}\n\ndata: [DONE]\n\n', {
      headers: { "content-type": "text/event-stream" },
    });
  });
  expect(
    parts
      .filter(({ type }) => type === "text")
      .map((part: any) => part.text)
      .join(""),
  ).toBe("Hello");
  expect(seen[0]).toBe("@cf/x");
  expect(seen[1]).not.toHaveProperty("model");
  expect(seen[1].messages.map(({ content }: any) => content)).toEqual(["Be brief.", "Hi", "", "seen"]);
});

test.each([
  ["5007: No such model @cf/x or task", "refused", 404],
  ["3036: You have used up your daily free allocation", "quota", 429],
  ["3040: Capacity temporarily exceeded", "overloaded", 429],
  ["3006: Request is too large", "overflow", 413],
  ["Network connection lost.", "network", undefined],
])("errors thrown by the binding are classified: %s", async (message, kind, status) => {
  await expect(call(() => Promise.reject(new Error(message)))).rejects.toMatchObject({
    name: "ModelError",
    kind,
    status,
  });
});
