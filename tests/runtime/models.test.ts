import { describe, expect, test } from "vitest";
import { openModelServer, type Phase } from "../kit/model-server.ts";
import { waitUntil } from "../kit/wait-until.ts";
import {
  type Adapter,
  adapters,
  listCalls,
  fullAnswer,
  joinText,
  key,
  defaultRequest,
  run,
  server,
  useModels,
} from "./model-calls.ts";

useModels();

describe.each(adapters)("a model over $name", (adapter) => {
  const lacks = (feature: NonNullable<Adapter["lacks"]>[number]) => adapter.lacks?.includes(feature) ?? false;

  test("text arrives in order and ends with a single finish", async () => {
    server.answer({ text: ["Hello ", "world", "."] });
    const { parts, error, thrown } = await run(adapter);
    expect({ error, thrown }).toEqual({});
    expect(joinText(parts, "text")).toBe("Hello world.");
    expect(parts.filter(({ type }: any) => type === "finish")).toEqual([parts.at(-1)]);
    expect(parts.at(-1).reason).toBe("stop");
    expect(server.countCalls()).toBe(1);
  });

  test("several calls with split inputs arrive complete, after text and reasoning", async () => {
    server.answer(fullAnswer);
    const { parts } = await run(adapter);
    expect(joinText(parts, "text")).toBe("Hello world.");
    if (!lacks("reasoning")) expect(joinText(parts, "reasoning")).toBe("Let me think.");
    expect(listCalls(parts)).toEqual(fullAnswer.toolCalls);
    expect(parts.at(-1).reason).toBe("tool-calls");
  });

  test.skipIf(lacks("malformed"))("an input that is not JSON is passed on verbatim", async () => {
    server.answer({ toolCalls: [{ id: "call_a", name: "add", input: '{"a": 1,,' }] });
    const { parts } = await run(adapter);
    expect(listCalls(parts)).toEqual([{ id: "call_a", name: "add", malformed: '{"a": 1,,' }]);
  });

  test("characters split across chunks are decoded correctly", async () => {
    const text = ["Grüße, ", "日本語 ", "👩‍👩‍👧 and ", "\u{1f600}"];
    for (const chunkBytes of [1, 2, 7]) {
      server.answer({ text, toolCalls: [{ id: "call_a", name: "add", input: { say: "日👧" } }], chunkBytes });
      const { parts } = await run(adapter);
      expect(joinText(parts, "text")).toBe(text.join(""));
      expect(listCalls(parts)[0]!.input).toEqual({ say: "日👧" });
    }
  });

  test("usage counts input, output and cached tokens", async () => {
    server.answer({ text: "Hi", usage: { input: 1000, output: 50, cached: 800 } });
    const { parts } = await run(adapter);
    expect(parts.at(-1).usage).toMatchObject({ inputTokens: 1000, outputTokens: 50, cachedInputTokens: 800 });
  });

  test("the provider's error for a conversation that is too long is recognised, and one that fits is counted", async () => {
    server.setLimit(adapter.model ?? "test-model", 200);
    server.answer({ text: "It fits." });
    const long = { ...defaultRequest, messages: [{ role: "user", content: "long ".repeat(300) }] };
    expect((await run(adapter, long)).error).toMatchObject({ kind: "overflow", retryable: false });
    const { parts } = await run(adapter);
    expect(parts.at(-1).usage.inputTokens).toBeGreaterThan(10);
    expect(server.listRefused()).toHaveLength(1);
  });

  test("the finish reason tells if an answer was cut by its limit or filtered", async () => {
    server.answer([
      { text: "Once upon", finish: "length" },
      { text: "I", finish: "content" },
    ]);
    expect((await run(adapter)).parts.at(-1).reason).toBe("length");
    expect((await run(adapter)).parts.at(-1).reason).toBe("content");
  });

  test("images from users and tools reach the provider", async () => {
    const [user, result] = [
      Buffer.from("user's picture").toString("base64"),
      Buffer.from("tool's picture").toString("base64"),
    ];
    server.answer({ text: "I see." });
    const { error } = await run(adapter, {
      ...defaultRequest,
      messages: [
        {
          role: "user",
          content: [
            { type: "text", text: "Look" },
            { type: "image", mediaType: "image/png", data: { base64: user } },
          ],
        },
        { role: "assistant", content: "", toolCalls: [{ id: "call_a", name: "add", input: { a: 1 } }] },
        {
          role: "tool",
          callId: "call_a",
          name: "add",
          content: "done",
          images: [{ mediaType: "image/png", data: { base64: result } }],
        },
      ],
    });
    expect(error).toBeUndefined();
    expect(server.listRequests()[0]!.raw).toContain(user);
    if (!lacks("result images")) expect(server.listRequests()[0]!.raw).toContain(result);
  });

  test("a complete tool exchange is accepted: call, result, failed result, and text in between", async () => {
    server.answer({ text: "Done." });
    const { error } = await run(adapter, {
      ...defaultRequest,
      messages: [
        { role: "user", content: "Add" },
        { role: "user", content: "please" },
        {
          role: "assistant",
          content: "Adding.",
          toolCalls: [
            { id: "call_a", name: "add", input: { a: 1 } },
            { id: "call_b", name: "add", malformed: "{oops" },
          ],
        },
        { role: "tool", callId: "call_a", name: "add", content: "three" },
        { role: "tool", callId: "call_b", name: "add", content: "That was not JSON.", failed: true },
        { role: "user", content: "And now?" },
      ],
    });
    expect(error).toBeUndefined();
    const [request] = server.listRequests();
    expect(request!.latest).toBe("And now?");
    expect(request!.results).toHaveLength(2);
    expect(request!.results[0]!.content).toContain("three");
    expect(request!.results[1]!.content).toContain("That was not JSON.");
    expect(request!.raw).toContain("oops");
  });

  test.skipIf(lacks("replay"))(
    "replay data is sent back in its place, and only to the model it came from",
    async () => {
      server.answer([fullAnswer, { text: "Done." }, { text: "Done." }]);
      const { parts } = await run(adapter);
      const { replay } = parts.find(({ type }: any) => type === "replay");
      const createMessages = (replayData: object) => [
        { role: "user", content: "Hi" },
        { role: "assistant", content: joinText(parts, "text"), toolCalls: listCalls(parts), replay: replayData },
        ...listCalls(parts).map(({ id }) => ({ role: "tool", callId: id, name: "add", content: "ok" })),
      ];
      expect((await run(adapter, { ...defaultRequest, messages: createMessages(replay) })).error).toBeUndefined();
      const secret = adapter.name.endsWith("responses")
        ? "encrypted-thoughts"
        : adapter.name === "chat" || adapter.name === "workers-ai"
          ? "Let me think."
          : "signed-thoughts";
      const sent = server.listRequests()[1]!.raw;
      expect(sent).toContain(secret);
      expect(sent.split("Hello world.")).toHaveLength(2);
      expect(sent.split("call_a").length).toBeGreaterThan(1);
      await run(adapter, { ...defaultRequest, messages: createMessages({ ...replay, adapter: "someone else" }) });
      expect(server.listRequests()[2]!.raw).not.toContain(secret);
    },
  );

  test("an abort in mid-stream throws its reason and closes the connection", async () => {
    server.answer({ text: ["Hello ", "world"], fault: { kind: "stall", phase: "text" } });
    const { thrown, error } = await run(adapter, defaultRequest, { abort: true });
    expect(error).toBeUndefined();
    expect(thrown).toContain("enough");
    await waitUntil("the connection to close", () => server.countAbandoned() === 1);
  });

  test("a reader that leaves in mid-stream leaves no connection open", async () => {
    server.answer([
      { text: ["Hello ", "world"], fault: { kind: "stall", phase: "text" } },
      { text: "Again.", fault: { kind: "stall", phase: "before" } },
    ]);
    const running = run(adapter, defaultRequest, { leave: true });
    await waitUntil(
      "the second call, and the end of the first",
      () => server.countCalls() === 2 && server.countAbandoned() === 1,
    );
    server.release();
    expect(joinText((await running).parts, "text")).toContain("Again.");
  });

  const phases: Phase[] = ["before", "first", "text", "tool", "end"];
  const faults = ["cut", "end", "malformed", "error-event"] as const;

  test.each(faults.flatMap((kind) => phases.map((phase) => [kind, phase] as const)))(
    "the fault %s in the phase %s is a transient error",
    async (kind, phase) => {
      server.answer({ ...fullAnswer, fault: { kind, phase } });
      const { error, thrown, parts } = await run(adapter);
      expect({ thrown, finish: parts.find(({ type }: any) => type === "finish") }).toEqual({});
      expect(error).toMatchObject({ kind: kind === "error-event" ? "overloaded" : "network", retryable: true });
      if (phase === "text" && kind !== "cut") expect(joinText(parts, "text")).toBe("Hello ");
      expect(server.countCalls()).toBe(1);
    },
  );

  test("a stall in any phase is a transient error", async () => {
    server.answer(({ latest }) => ({ ...fullAnswer, fault: { kind: "stall", phase: latest as Phase } }));
    const results = await Promise.all(
      phases.map((phase) =>
        run(adapter, { ...defaultRequest, messages: [{ role: "user", content: phase }] }, { idleMs: 700 }),
      ),
    );
    for (const { error, parts } of results) {
      expect(error).toMatchObject({ kind: "network", retryable: true });
      expect(parts.find(({ type }: any) => type === "finish")).toBeUndefined();
    }
    expect(server.countCalls()).toBe(phases.length);
    await waitUntil("the connections to close", () => server.countAbandoned() === phases.length);
  });

  test.skipIf(adapter.name.startsWith("sdk-"))("slow deltas are not a stall", async () => {
    server.answer({ ...fullAnswer, fault: { kind: "slow", phase: "text", ms: 150 } });
    const { parts, error } = await run(adapter, defaultRequest, { idleMs: 1000 });
    expect(error).toBeUndefined();
    expect(parts.at(-1).type).toBe("finish");
  });

  test.each([
    [401, undefined, "auth", false],
    [403, undefined, "auth", false],
    [402, undefined, "quota", false],
    [413, undefined, "overflow", false],
    [429, undefined, "overloaded", true],
    [500, undefined, "overloaded", true],
    [503, undefined, "overloaded", true],
    [529, undefined, "overloaded", true],
    [404, undefined, "refused", false],
    [400, undefined, "refused", false],
    [429, "insufficient_quota", "quota", false],
    [400, "context_length_exceeded", "overflow", false],
    [400, "content_policy_violation", "content", false],
  ] as const)("status %i %s is %s", async (status, code, kind, retryable) => {
    server.answer({ fault: { kind: "status", status, ...(code ? { code } : {}) } });
    const { error } = await run(adapter);
    expect(error).toMatchObject({ kind, retryable, status });
    expect(error.message).toContain("The provider says no.");
    if (kind === "auth" && adapter.name !== "workers-ai") expect(error.advice).toContain("TEST_API_KEY");
  });

  test("retry-after is respected, and the error message is shortened and without the key", async () => {
    server.answer({
      fault: { kind: "status", status: 429, retryAfter: 7, message: `Slow down, ${key}! ${"x".repeat(2000)}` },
    });
    const { error } = await run(adapter);
    expect(error).toMatchObject({ kind: "overloaded", retryable: true, retryAfterMs: 7000 });
    expect(error.message).not.toContain("very-secret");
    expect(error.message.length).toBeLessThan(450);
  });

  test("a refused connection is a transient error", async () => {
    const { error } = await run(adapter, defaultRequest, { base: "http://127.0.0.1:1/v1" });
    expect(error).toMatchObject({ kind: "network", retryable: true });
  });

  test.skipIf(adapter.name.startsWith("sdk-"))(
    "a redirect is rejected, so that the key is not sent elsewhere",
    async () => {
      const other = await openModelServer();
      server.answer({ fault: { kind: "status", status: 307, location: `${other.url}/v1/chat/completions` } });
      const { error } = await run(adapter);
      expect(error).toMatchObject({ kind: "refused", retryable: false, status: 307 });
      expect(other.countCalls()).toBe(0);
      await other.stop();
    },
  );

  test("equal requests are sent as equal bytes", async () => {
    server.answer([{ text: "Hi" }, { text: "Hi" }]);
    await run(adapter);
    await run(adapter);
    const [first, second] = server.listRequests();
    expect(first!.raw).toBe(second!.raw);
  });
});
