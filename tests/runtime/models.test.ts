import { describe, expect, test } from "vitest";
import { openModelServer, type Phase } from "../kit/model-server.ts";
import { waitUntil } from "../kit/wait-until.ts";
import {
  type Adapter,
  adapters,
  listCalls,
  full,
  joinText,
  key,
  question,
  run,
  server,
  useModels,
} from "./model-calls.ts";

useModels();

describe.each(adapters)("a model over $name", (adapter) => {
  const lacks = (what: NonNullable<Adapter["lacks"]>[number]) => adapter.lacks?.includes(what) ?? false;

  test("text comes in order and ends with one finish", async () => {
    server.answer({ text: ["Hello ", "world", "."] });
    const { parts, error, thrown } = await run(adapter);
    expect({ error, thrown }).toEqual({});
    expect(joinText(parts, "text")).toBe("Hello world.");
    expect(parts.filter(({ type }: any) => type === "finish")).toEqual([parts.at(-1)]);
    expect(parts.at(-1).reason).toBe("stop");
    expect(server.countCalls()).toBe(1);
  });

  test("several calls with split inputs come whole, after text and thoughts", async () => {
    server.answer(full);
    const { parts } = await run(adapter);
    expect(joinText(parts, "text")).toBe("Hello world.");
    if (!lacks("reasoning")) expect(joinText(parts, "reasoning")).toBe("Let me think.");
    expect(listCalls(parts)).toEqual(full.toolCalls);
    expect(parts.at(-1).reason).toBe("tool-calls");
  });

  test.skipIf(lacks("malformed"))("an input that is not JSON is handed on as the model wrote it", async () => {
    server.answer({ toolCalls: [{ id: "call_a", name: "add", input: '{"a": 1,,' }] });
    const { parts } = await run(adapter);
    expect(listCalls(parts)).toEqual([{ id: "call_a", name: "add", malformed: '{"a": 1,,' }]);
  });

  test("characters survive chunks that cut through them", async () => {
    const text = ["Grüße, ", "日本語 ", "👩‍👩‍👧 and ", "\u{1f600}"];
    for (const chunkBytes of [1, 2, 7]) {
      server.answer({ text, toolCalls: [{ id: "call_a", name: "add", input: { say: "日👧" } }], chunkBytes });
      const { parts } = await run(adapter);
      expect(joinText(parts, "text")).toBe(text.join(""));
      expect(listCalls(parts)[0]!.input).toEqual({ say: "日👧" });
    }
  });

  test("usage counts everything that was read and written, and what a cache had", async () => {
    server.answer({ text: "Hi", usage: { input: 1000, output: 50, cached: 800 } });
    const { parts } = await run(adapter);
    expect(parts.at(-1).usage).toMatchObject({ inputTokens: 1000, outputTokens: 50, cachedInputTokens: 800 });
  });

  test("a conversation that is too long is told apart by the provider's own words, and what fits is counted", async () => {
    server.setLimit(adapter.model ?? "test-model", 200);
    server.answer({ text: "It fits." });
    const long = { ...question, messages: [{ role: "user", content: "long ".repeat(300) }] };
    expect((await run(adapter, long)).error).toMatchObject({ kind: "overflow", passing: false });
    const { parts } = await run(adapter);
    expect(parts.at(-1).usage.inputTokens).toBeGreaterThan(10);
    expect(server.listRefused()).toHaveLength(1);
  });

  test("an answer that was cut short by its limit says so, and so does a filtered one", async () => {
    server.answer([
      { text: "Once upon", finish: "length" },
      { text: "I", finish: "content" },
    ]);
    expect((await run(adapter)).parts.at(-1).reason).toBe("length");
    expect((await run(adapter)).parts.at(-1).reason).toBe("content");
  });

  test("images of users and of tools reach the provider", async () => {
    const [user, result] = [
      Buffer.from("user's picture").toString("base64"),
      Buffer.from("tool's picture").toString("base64"),
    ];
    server.answer({ text: "I see." });
    const { error } = await run(adapter, {
      ...question,
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

  test("a whole exchange with a tool is understood: call, result, failed result, and words in between", async () => {
    server.answer({ text: "Done." });
    const { error } = await run(adapter, {
      ...question,
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
    "what must come back comes back, in its place, and only to the model it came from",
    async () => {
      server.answer([full, { text: "Done." }, { text: "Done." }]);
      const { parts } = await run(adapter);
      const { replay } = parts.find(({ type }: any) => type === "replay");
      const messages = (given: object) => [
        { role: "user", content: "Hi" },
        { role: "assistant", content: joinText(parts, "text"), toolCalls: listCalls(parts), replay: given },
        ...listCalls(parts).map(({ id }) => ({ role: "tool", callId: id, name: "add", content: "ok" })),
      ];
      expect((await run(adapter, { ...question, messages: messages(replay) })).error).toBeUndefined();
      const secret = adapter.name.endsWith("responses")
        ? "encrypted-thoughts"
        : adapter.name === "chat" || adapter.name === "workers-ai"
          ? "Let me think."
          : "signed-thoughts";
      const sent = server.listRequests()[1]!.raw;
      expect(sent).toContain(secret);
      expect(sent.split("Hello world.")).toHaveLength(2);
      expect(sent.split("call_a").length).toBeGreaterThan(1);
      await run(adapter, { ...question, messages: messages({ ...replay, adapter: "someone else" }) });
      expect(server.listRequests()[2]!.raw).not.toContain(secret);
    },
  );

  test("an abort in the middle throws its reason and closes the connection", async () => {
    server.answer({ text: ["Hello ", "world"], fault: { kind: "stall", phase: "text" } });
    const { thrown, error } = await run(adapter, question, { abort: true });
    expect(error).toBeUndefined();
    expect(thrown).toContain("enough");
    await waitUntil("the connection to close", () => server.countAbandoned() === 1);
  });

  test("whoever leaves in the middle leaves no connection open", async () => {
    server.answer([
      { text: ["Hello ", "world"], fault: { kind: "stall", phase: "text" } },
      { text: "Again.", fault: { kind: "stall", phase: "before" } },
    ]);
    const running = run(adapter, question, { leave: true });
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
    "%s, %s: it fails in a way that may pass",
    async (kind, phase) => {
      server.answer({ ...full, fault: { kind, phase } });
      const { error, thrown, parts } = await run(adapter);
      expect({ thrown, finish: parts.find(({ type }: any) => type === "finish") }).toEqual({});
      expect(error).toMatchObject({ kind: kind === "error-event" ? "overloaded" : "network", passing: true });
      if (phase === "text" && kind !== "cut") expect(joinText(parts, "text")).toBe("Hello ");
      expect(server.countCalls()).toBe(1);
    },
  );

  test("a silence that is too long fails in every phase in a way that may pass", async () => {
    server.answer(({ latest }) => ({ ...full, fault: { kind: "stall", phase: latest as Phase } }));
    const results = await Promise.all(
      phases.map((phase) =>
        run(adapter, { ...question, messages: [{ role: "user", content: phase }] }, { idleMs: 700 }),
      ),
    );
    for (const { error, parts } of results) {
      expect(error).toMatchObject({ kind: "network", passing: true });
      expect(parts.find(({ type }: any) => type === "finish")).toBeUndefined();
    }
    expect(server.countCalls()).toBe(phases.length);
    await waitUntil("the connections to close", () => server.countAbandoned() === phases.length);
  });

  test.skipIf(adapter.name.startsWith("sdk-"))("slow deltas are no silence", async () => {
    server.answer({ ...full, fault: { kind: "slow", phase: "text", ms: 150 } });
    const { parts, error } = await run(adapter, question, { idleMs: 1000 });
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
  ] as const)("status %i %s is %s", async (status, code, kind, passing) => {
    server.answer({ fault: { kind: "status", status, ...(code ? { code } : {}) } });
    const { error } = await run(adapter);
    expect(error).toMatchObject({ kind, passing, status });
    expect(error.message).toContain("The provider says no.");
    if (kind === "auth" && adapter.name !== "workers-ai") expect(error.advice).toContain("TEST_API_KEY");
  });

  test("a provider's wish to wait is kept, and its words are short and without the key", async () => {
    server.answer({
      fault: { kind: "status", status: 429, retryAfter: 7, message: `Slow down, ${key}! ${"x".repeat(2000)}` },
    });
    const { error } = await run(adapter);
    expect(error).toMatchObject({ kind: "overloaded", passing: true, retryAfterMs: 7000 });
    expect(error.message).not.toContain("very-secret");
    expect(error.message.length).toBeLessThan(450);
  });

  test("nobody there is a failure that may pass", async () => {
    const { error } = await run(adapter, question, { base: "http://127.0.0.1:1/v1" });
    expect(error).toMatchObject({ kind: "network", passing: true });
  });

  test.skipIf(adapter.name.startsWith("sdk-"))("a redirect is refused: the key stays here", async () => {
    const other = await openModelServer();
    server.answer({ fault: { kind: "status", status: 307, location: `${other.url}/v1/chat/completions` } });
    const { error } = await run(adapter);
    expect(error).toMatchObject({ kind: "refused", passing: false, status: 307 });
    expect(other.countCalls()).toBe(0);
    await other.stop();
  });

  test("the same request is the same bytes", async () => {
    server.answer([{ text: "Hi" }, { text: "Hi" }]);
    await run(adapter);
    await run(adapter);
    const [first, second] = server.listRequests();
    expect(first!.raw).toBe(second!.raw);
  });
});
