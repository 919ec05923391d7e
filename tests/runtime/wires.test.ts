import { describe, expect, test } from "vitest";
import { listCalls, fullAnswer, joinText, ownAdapters, defaultRequest, run, server, useModels } from "./model-calls.ts";

useModels();

describe.each(ownAdapters)("the built-in $name client", (adapter) => {
  test("one connection serves many calls", async () => {
    // The body ends shortly after its end marker, as with real providers.
    server.answer(() => ({ text: ["a", "b"], delayMs: 5 }));
    await run(adapter, defaultRequest, { times: 6 });
    expect(server.countCalls()).toBe(6);
    expect(server.countConnections()).toBeLessThan(4);
  });

  test("an answer that was not streamed is accepted", async () => {
    server.answer({ ...fullAnswer, whole: true });
    const { parts } = await run(adapter);
    expect(joinText(parts, "text")).toBe("Hello world.");
    expect(joinText(parts, "reasoning")).toBe("Let me think.");
    expect(listCalls(parts)).toEqual(fullAnswer.toolCalls);
    expect(parts.at(-1)).toMatchObject({
      type: "finish",
      reason: "tool-calls",
      usage: { inputTokens: 10, outputTokens: 5 },
    });
  });

  test("no part ends in the middle of a character", async () => {
    server.answer({ text: ["a\ud83d", "\ude00b", "\ud83d", "\ude01"], delayMs: 3 });
    const { parts } = await run(adapter);
    const texts = parts.filter(({ type }: any) => type === "text").map(({ text }: any) => text);
    expect(texts.join("")).toBe("a\u{1f600}b\u{1f601}");
    for (const text of texts) expect(text.isWellFormed?.() ?? !/[\ud800-\udbff]$/.test(text)).toBe(true);
  });

  test("events that arrive together are delivered in one batch", async () => {
    server.answer({ text: Array.from({ length: 200 }, () => "x"), chunkBytes: 100_000 });
    const { batches, parts } = await run(adapter);
    expect(joinText(parts, "text")).toHaveLength(200);
    // workerd hands over 4 KB at a time.
    expect(batches.length).toBeLessThan(20);
  });

  describe("a fast stream with one chunk per delta", () => {
    const text = Array.from({ length: 1500 }, (_, index) => `w${index} ü\u{1f600} `);

    test("is complete, in order and delivered in few batches", async () => {
      server.answer(() => ({ text }));
      const { batches, parts } = await run(adapter, defaultRequest, { times: 2 });
      expect(joinText(parts, "text")).toBe(text.join("").repeat(2));
      expect(batches.length).toBeLessThan(text.length / 2);
    });

    test("delivers everything sent before a stall", async () => {
      server.answer({ text, fault: { kind: "stall", phase: "end" } });
      const { parts, error, quietMs } = await run(adapter, defaultRequest, { idleMs: 1500 });
      expect(error).toMatchObject({ kind: "network", retryable: true });
      expect(joinText(parts, "text")).toBe(text.join(""));
      // The last part was delivered when it was sent, not together with the error.
      expect(quietMs).toBeGreaterThan(1000);
      server.release();
    });

    test("is abandoned when the reader leaves", async () => {
      server.answer([
        { text, fault: { kind: "stall", phase: "end" } },
        { text: ["Again", "."], delayMs: 200 },
      ]);
      const { parts } = await run(adapter, defaultRequest, { leave: text.join("").length / 2 });
      expect(joinText(parts, "text")).toMatch(/^w0 .*Again\.$/s);
      expect(server.countAbandoned()).toBe(1);
      server.release();
    });
  });

  test("a key with a line break is rejected without showing it", async () => {
    const { error } = await run(adapter, defaultRequest, { key: "sk-very-secret\nkey" });
    expect(error).toMatchObject({ kind: "auth", retryable: false });
    expect(JSON.stringify(error)).not.toContain("secret");
    expect(server.countCalls()).toBe(0);
  });

  test("an HTML page in place of an answer is an error", async () => {
    server.answer({ fault: { kind: "status", status: 502, body: "<html><h1>Bad gateway</h1></html>" } });
    const { error } = await run(adapter);
    expect(error).toMatchObject({ kind: "overloaded", retryable: true });
    expect(error.message).not.toContain("<");
  });
});

test("OpenAI's reasoning summaries are requested, and the call is retried without them if the account may not use them", async () => {
  const adapter = ownAdapters[1]!;
  server.answer(({ body }) =>
    body.reasoning
      ? {
          fault: {
            kind: "status",
            status: 400,
            body: JSON.stringify({
              error: { message: "Not verified.", param: "reasoning.summary", code: "unsupported_value" },
            }),
          },
        }
      : { text: "Fine." },
  );
  const { parts } = await run(adapter);
  expect(joinText(parts, "text")).toBe("Fine.");
  expect(server.countCalls()).toBe(2);
  expect((server.listRequests().at(-1)!.body as any).include).toEqual(["reasoning.encrypted_content"]);
});
