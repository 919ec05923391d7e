import { execFile } from "node:child_process";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type EchoHost, openEchoHost } from "../kit/echo-host.ts";
import { readEvents as sse } from "../kit/sse.ts";
import { waitUntil } from "../kit/wait-until.ts";

// Jobs over plain HTTP: one message to an agent or to several, streamed or answered when done.

let aviary: EchoHost;

beforeAll(async () => {
  aviary = await openEchoHost();
});

afterAll(() => aviary?.stop());

describe("/run", () => {
  test("streams a turn from its first words to its outcome", async () => {
    const agent = await aviary.newAgent();
    const response = await aviary.open("/run", { body: { agent: agent.name, message: "make a plan" } });
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toContain("text/event-stream");
    const told: any[] = [];
    for await (const { type, data } of sse(response)) told.push({ ...JSON.parse(data), event: type });
    for (const { agent: from, event, type } of told) expect([from, event]).toEqual([agent.name, type]);
    expect(
      told
        .filter(({ type }) => type === "chunk")
        .map(({ text }) => text)
        .join(""),
    ).toBe("I will note it.All noted.");
    expect(
      told
        .filter(({ type }) => type === "reasoning")
        .map(({ text }) => text)
        .join(""),
    ).toBe("One thing after the other.");
    expect(told.filter(({ type }) => type === "tool_call").map(({ call }) => call.name)).toEqual([
      "write_todos",
      "set_title",
      "no_such_tool",
    ]);
    expect(
      told
        .filter(({ type }) => type === "tool_result")
        .map(({ name, failed }) => [name, failed ?? false])
        .sort(),
    ).toEqual([
      ["no_such_tool", true],
      ["set_title", false],
      ["write_todos", false],
    ]);
    expect(told.at(-1)).toMatchObject({ type: "done", status: "completed", content: "All noted." });
  });

  test("streams to curl -N as it happens", async () => {
    const agent = await aviary.newAgent();
    const args = [
      "-sN",
      "-H",
      `authorization: Bearer ${aviary.house.token}`,
      "-H",
      "content-type: application/json",
      "-d",
      JSON.stringify({ agent: agent.name, message: "slow" }),
      `${aviary.house.url}/run`,
    ];
    let printed = "";
    const curl = execFile("curl", args);
    curl.stdout?.on("data", (chunk) => (printed += chunk));
    const left = new Promise((resolve) => curl.on("exit", resolve));
    // The model is silent for ten minutes after its first word: what is here came while the turn runs.
    await waitUntil("the first words", () => printed.includes("Begun."));
    expect(printed).toMatch(/^event: chunk\ndata: \{.*\}\n\n/);
    await agent.cancel();
    expect(await left).toBe(0);
    const last = JSON.parse(printed.trim().split("\n\n").at(-1)?.split("data: ")[1] ?? "");
    expect(last).toMatchObject({ agent: agent.name, type: "done", status: "canceled" });
  });

  test("tells a failure as an error, with what to do", async () => {
    const agent = await aviary.newAgent();
    const told: any[] = [];
    for await (const { data } of sse(await aviary.open("/run", { body: { agent: agent.name, message: "broken" } })))
      told.push(JSON.parse(data));
    expect(told.at(-1)).toMatchObject({
      agent: agent.name,
      type: "error",
      code: "model_auth",
      message: expect.any(String),
      advice: expect.any(String),
    });
    await agent.say("still there?");
  });

  test("of which nobody hears the end goes on all the same", async () => {
    const agent = await aviary.newAgent();
    const leave = new AbortController();
    const response = await aviary.open("/run", { body: { agent: agent.name, message: "slow" }, signal: leave.signal });
    for await (const { type } of sse(response)) if (type === "chunk") break;
    leave.abort();
    await agent.invoke({ message: "next", mode: "queue" });
    expect((await agent.run()).status).toBe("running");
    await agent.cancel();
    await waitUntil(
      "the next turn",
      async () => (await agent.log()).filter(({ type }) => type === "agent.completed").length === 1,
    );
  });
});

describe("/serve", () => {
  test("answers when the turn is done, with what was said, done and used", async () => {
    const agent = await aviary.newAgent();
    const { status, body } = await aviary.api("/serve", "POST", {
      agent: `${agent.name}@global`,
      message: "make a plan",
    });
    expect(status).toBe(200);
    expect(body.content).toBe("All noted.");
    expect(body.toolCalls.map(({ name, failed }: any) => [name, failed ?? false])).toEqual([
      ["write_todos", false],
      ["set_title", false],
      ["no_such_tool", true],
    ]);
    expect(body.usage).toMatchObject({ inputTokens: expect.any(Number), outputTokens: expect.any(Number), costUsd: 0 });
    expect(body.outcomes).toMatchObject([{ agent: agent.name, status: "completed" }]);
  });

  test("with the same key is the same turn", async () => {
    const agent = await aviary.newAgent();
    const body = { agent: agent.name, message: "once", idempotencyKey: "k" };
    const [one, two] = await Promise.all([aviary.api("/serve", "POST", body), aviary.api("/serve", "POST", body)]);
    expect(one.body.outcomes[0].runId).toBe(two.body.outcomes[0].runId);
    expect((await aviary.api(`${agent.at}/messages`)).body.messages).toHaveLength(2);
  });

  test("says why a turn failed or was canceled", async () => {
    const agent = await aviary.newAgent();
    const failed = await aviary.api("/serve", "POST", { agent: agent.name, message: "broken" });
    expect(failed.status).toBe(503);
    expect(failed.body.error).toMatchObject({
      code: "unavailable",
      message: expect.any(String),
      details: { suggestion: expect.any(String) },
    });
    const canceled = aviary.api("/serve", "POST", { agent: agent.name, message: "slow" });
    await waitUntil("the turn to run", async () => (await agent.run()).status === "running");
    await agent.cancel();
    expect((await canceled).status).toBe(409);
  });

  test("names the agent or the model that was probably meant", async () => {
    await aviary.newAgent({ name: "penelope" });
    const unknown = await aviary.api("/serve", "POST", { agent: "penlope", message: "hello" });
    expect(unknown.status).toBe(404);
    expect(unknown.body.error).toMatchObject({
      message: expect.stringContaining("penelope"),
      details: { suggestion: "penelope" },
    });
    const elsewhere = await aviary.api("/serve", "POST", { agent: "penelope@gloobal", message: "hello" });
    expect(elsewhere.body.error.details).toEqual({ suggestion: "penelope@global" });
    const agent = await aviary.newAgent({ model: "scripted:parot" });
    const noModel = await aviary.api("/serve", "POST", { agent: agent.name, message: "hello" });
    expect(noModel.status).toBe(503);
    expect(JSON.stringify(noModel.body.error)).toContain("parrot");
  });
});

describe("agents given on the spot", () => {
  const pair = { one: { model: "scripted:parrot", system_prompt: "Be one." }, two: { model: "scripted:parrot" } };

  test("work in an agency of their own, each heard under its name", async () => {
    const { status, body } = await aviary.api("/serve", "POST", { agents: pair, tag: "pr-1", message: "hello" });
    expect(status).toBe(200);
    expect(body.content).toBe("one:\nYou said: hello\n\ntwo:\nYou said: hello");
    expect(body.outcomes.map(({ agent }: { agent: string }) => agent)).toEqual(["one", "two"]);
    expect(body.usage.outputTokens).toBe(body.outcomes[0].usage.outputTokens + body.outcomes[1].usage.outputTokens);
    const { agents } = (await aviary.api("/agency/run:pr-1/agents")).body;
    expect(agents).toMatchObject([{ name: "one", blueprint: "think", system: "Be one." }, { name: "two" }]);

    await aviary.api("/serve", "POST", { agents: pair, tag: "pr-1", message: "again" });
    expect((await aviary.api("/agency/run:pr-1/agent/one/messages")).body.messages).toHaveLength(4);
  });

  test("stream together, and each event is whole and says whose it is", async () => {
    const told: any[] = [];
    const body = { workflow: { name: "review", agents: pair }, tag: "pr-2", message: "make a plan" };
    for await (const { data } of sse(await aviary.open("/run", { body }))) told.push(JSON.parse(data));
    for (const agent of ["one", "two"]) {
      const its = told.filter((event) => event.agent === agent);
      expect(
        its
          .filter(({ type }) => type === "chunk")
          .map(({ text }) => text)
          .join(""),
      ).toBe("I will note it.All noted.");
      expect(its.at(-1)).toMatchObject({ type: "done", status: "completed" });
    }
    expect((await aviary.api("/agency/review:pr-2/agents")).body.agents).toHaveLength(2);
  });

  test("get a new agency each time, unless the tag or the key is the same, however many ask at once", async () => {
    const agencies = async () =>
      (await aviary.house.client.call("listAgencies", { query: { limit: 500 } })).agencies.map(({ id }) => id);
    const before = await agencies();
    const serve = (body: object) =>
      aviary.api("/serve", "POST", { agents: { one: pair.one }, message: "hello", ...body });
    await Promise.all([serve({}), serve({})]);
    expect(await agencies()).toHaveLength(before.length + 2);
    const answers = await Promise.all(Array.from({ length: 8 }, () => serve({ idempotencyKey: "same" })));
    expect(new Set(answers.map(({ body }) => body.outcomes[0].runId)).size).toBe(1);
    expect(await agencies()).toHaveLength(before.length + 3);
  });

  test("one that fails fails the whole, and is named", async () => {
    const answer = await aviary.api("/serve", "POST", {
      agents: { one: pair.one, bad: { model: "scripted:nobody" } },
      message: "hello",
    });
    expect(answer.status).toBe(503);
    expect(answer.body.error.message).toMatch(/^bad: /);
  });
});
