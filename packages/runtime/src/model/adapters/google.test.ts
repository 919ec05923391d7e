import { expect, test } from "vitest";
import type { ModelSettings } from "../model.ts";
import { createGoogleModel } from "./google.ts";

/** Returns the `thinkingConfig` of a request with these settings. */
async function readThinking(model: string, settings?: ModelSettings): Promise<unknown> {
  let body = "";
  const opened = await createGoogleModel({
    id: `google:${model}`,
    model,
    base: "http://models.test",
    fetch: (async (_url: unknown, init?: RequestInit) => {
      body = String(init?.body);
      return Response.json({ error: { code: 400, message: "No.", status: "INVALID_ARGUMENT" } }, { status: 400 });
    }) as never,
  });
  const request = {
    system: "",
    messages: [{ role: "user", content: "Hi" }] as const,
    tools: [],
    ...(settings ? { settings } : {}),
  };
  const parts = opened.stream(request, new AbortController().signal)[Symbol.asyncIterator]();
  await expect(parts.next()).rejects.toThrow("No.");
  return JSON.parse(body).generationConfig?.thinkingConfig;
}

test("Gemini 2.5 gets a budget, later ones a level, and models that cannot think neither", async () => {
  expect(await readThinking("gemini-2.5-flash")).toEqual({ includeThoughts: true });
  expect(await readThinking("gemini-2.5-flash", { thinkingBudget: 3000 })).toEqual({
    includeThoughts: true,
    thinkingBudget: 3000,
  });
  expect(await readThinking("gemini-2.5-flash", { reasoningEffort: "none" })).toEqual({
    includeThoughts: false,
    thinkingBudget: 0,
  });
  expect(await readThinking("gemini-2.5-pro", { reasoningEffort: "high" })).toMatchObject({
    thinkingBudget: expect.any(Number),
  });
  expect(await readThinking("gemini-3-pro-preview", { thinkingBudget: 2000 })).toEqual({
    includeThoughts: true,
    thinkingLevel: "low",
  });
});
