import { describe, expect, test } from "vitest";
import { listCalls, full, joinText, ours, question, run, server, useModels } from "./model-calls.ts";

useModels();

describe.each(ours)("our own wire $name", (adapter) => {
  test("one connection serves many calls", async () => {
    // The body ends a little after its end marker, as bodies do.
    server.answer(() => ({ text: ["a", "b"], delayMs: 5 }));
    await run(adapter, question, { times: 6 });
    expect(server.countCalls()).toBe(6);
    expect(server.countConnections()).toBeLessThan(4);
  });

  test("an answer that was not streamed is an answer", async () => {
    server.answer({ ...full, whole: true });
    const { parts } = await run(adapter);
    expect(joinText(parts, "text")).toBe("Hello world.");
    expect(joinText(parts, "reasoning")).toBe("Let me think.");
    expect(listCalls(parts)).toEqual(full.toolCalls);
    expect(parts.at(-1)).toMatchObject({
      type: "finish",
      reason: "tool-calls",
      usage: { inputTokens: 10, outputTokens: 5 },
    });
  });

  test("no part ends in half a character", async () => {
    server.answer({ text: ["a\ud83d", "\ude00b", "\ud83d", "\ude01"], delayMs: 3 });
    const { parts } = await run(adapter);
    const texts = parts.filter(({ type }: any) => type === "text").map(({ text }: any) => text);
    expect(texts.join("")).toBe("a\u{1f600}b\u{1f601}");
    for (const text of texts) expect(text.isWellFormed?.() ?? !/[\ud800-\udbff]$/.test(text)).toBe(true);
  });

  test("what arrives together comes together", async () => {
    server.answer({ text: Array.from({ length: 200 }, () => "x"), chunkBytes: 100_000 });
    const { batches, parts } = await run(adapter);
    expect(joinText(parts, "text")).toHaveLength(200);
    // workerd hands over 4 KB at a time.
    expect(batches.length).toBeLessThan(20);
  });

  describe("a stream with a chunk for every delta that comes fast", () => {
    const text = Array.from({ length: 1500 }, (_, index) => `w${index} ü\u{1f600} `);

    test("is complete, in order and read in few batches", async () => {
      server.answer(() => ({ text }));
      const { batches, parts } = await run(adapter, question, { times: 2 });
      expect(joinText(parts, "text")).toBe(text.join("").repeat(2));
      expect(batches.length).toBeLessThan(text.length / 2);
    });

    test("shows all that was sent before a pause", async () => {
      server.answer({ text, fault: { kind: "stall", phase: "end" } });
      const { parts, error, quietMs } = await run(adapter, question, { idleMs: 1500 });
      expect(error).toMatchObject({ kind: "network", passing: true });
      expect(joinText(parts, "text")).toBe(text.join(""));
      // The last of it came when it was sent, not with the failure.
      expect(quietMs).toBeGreaterThan(1000);
      server.release();
    });

    test("is abandoned where nobody listens any more", async () => {
      server.answer([
        { text, fault: { kind: "stall", phase: "end" } },
        { text: ["Again", "."], delayMs: 200 },
      ]);
      const { parts } = await run(adapter, question, { leave: text.join("").length / 2 });
      expect(joinText(parts, "text")).toMatch(/^w0 .*Again\.$/s);
      expect(server.countAbandoned()).toBe(1);
      server.release();
    });
  });

  test("a key with a line break is refused without being shown", async () => {
    const { error } = await run(adapter, question, { key: "sk-very-secret\nkey" });
    expect(error).toMatchObject({ kind: "auth", passing: false });
    expect(JSON.stringify(error)).not.toContain("secret");
    expect(server.countCalls()).toBe(0);
  });

  test("a web page instead of an answer is refused", async () => {
    server.answer({ fault: { kind: "status", status: 502, body: "<html><h1>Bad gateway</h1></html>" } });
    const { error } = await run(adapter);
    expect(error).toMatchObject({ kind: "overloaded", passing: true });
    expect(error.message).not.toContain("<");
  });
});

test("OpenAI's summaries are asked for once, and not again where the account may not have them", async () => {
  const adapter = ours[1]!;
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
