import { execFile } from "node:child_process";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type EchoHost, openEchoHost } from "../kit/echo-host.ts";
import { readEvents } from "../kit/sse.ts";
import { waitUntil } from "../kit/wait-until.ts";

// Jobs over plain HTTP: one message to one or more agents, with a streamed or a single response.

let echoHost: EchoHost;

beforeAll(async () => {
  echoHost = await openEchoHost();
});

afterAll(() => echoHost?.stop());

describe("/run", () => {
  test("streams a turn from its first text to its outcome", async () => {
    const agent = await echoHost.newAgent();
    const response = await echoHost.open("/run", { body: { agent: agent.name, message: "make a plan" } });
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toContain("text/event-stream");
    const events: any[] = [];
    for await (const { type, data } of readEvents(response)) events.push({ ...JSON.parse(data), event: type });
    for (const { agent: sender, event, type } of events) expect([sender, event]).toEqual([agent.name, type]);
    expect(
      events
        .filter(({ type }) => type === "chunk")
        .map(({ text }) => text)
        .join(""),
    ).toBe("I will note it.All noted.");
    expect(
      events
        .filter(({ type }) => type === "reasoning")
        .map(({ text }) => text)
        .join(""),
    ).toBe("One thing after the other.");
    expect(events.filter(({ type }) => type === "tool_call").map(({ call }) => call.name)).toEqual([
      "write_todos",
      "set_title",
      "no_such_tool",
    ]);
    expect(
      events
        .filter(({ type }) => type === "tool_result")
        .map(({ name, failed }) => [name, failed ?? false])
        .sort(),
    ).toEqual([
      ["no_such_tool", true],
      ["set_title", false],
      ["write_todos", false],
    ]);
    expect(events.at(-1)).toMatchObject({ type: "done", status: "completed", content: "All noted." });
  });

  test("streams to curl -N as it happens", async () => {
    const agent = await echoHost.newAgent();
    const args = [
      "-sN",
      "-H",
      `authorization: Bearer ${echoHost.host.token}`,
      "-H",
      "content-type: application/json",
      "-d",
      JSON.stringify({ agent: agent.name, message: "slow" }),
      `${echoHost.host.url}/run`,
    ];
    let output = "";
    const curl = execFile("curl", args);
    curl.stdout?.on("data", (chunk) => (output += chunk));
    const exited = new Promise((resolve) => curl.on("exit", resolve));
    // The model pauses for ten minutes after its first word, so this arrived while the turn was running.
    await waitUntil("the first text", () => output.includes("Begun."));
    expect(output).toMatch(/^event: chunk\ndata: \{.*\}\n\n/);
    await agent.cancel();
    expect(await exited).toBe(0);
    const last = JSON.parse(output.trim().split("\n\n").at(-1)?.split("data: ")[1] ?? "");
    expect(last).toMatchObject({ agent: agent.name, type: "done", status: "canceled" });
  });

  test("reports a failure as an error with advice", async () => {
    const agent = await echoHost.newAgent();
    const events: any[] = [];
    for await (const { data } of readEvents(
      await echoHost.open("/run", { body: { agent: agent.name, message: "broken" } }),
    ))
      events.push(JSON.parse(data));
    expect(events.at(-1)).toMatchObject({
      agent: agent.name,
      type: "error",
      code: "model_auth",
      message: expect.any(String),
      advice: expect.any(String),
    });
    await agent.say("still there?");
  });

  test("keeps the turn running when the client disconnects", async () => {
    const agent = await echoHost.newAgent();
    const controller = new AbortController();
    const response = await echoHost.open("/run", {
      body: { agent: agent.name, message: "slow" },
      signal: controller.signal,
    });
    for await (const { type } of readEvents(response)) if (type === "chunk") break;
    controller.abort();
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
  test("responds when the turn is done, with its content, tool calls and usage", async () => {
    const agent = await echoHost.newAgent();
    const { status, body } = await echoHost.api("/serve", "POST", {
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

  test("returns the same turn for the same idempotency key", async () => {
    const agent = await echoHost.newAgent();
    const body = { agent: agent.name, message: "once", idempotencyKey: "k" };
    const [one, two] = await Promise.all([echoHost.api("/serve", "POST", body), echoHost.api("/serve", "POST", body)]);
    expect(one.body.outcomes[0].runId).toBe(two.body.outcomes[0].runId);
    expect((await echoHost.api(`${agent.at}/messages`)).body.messages).toHaveLength(2);
  });

  test("says why a turn failed or was canceled", async () => {
    const agent = await echoHost.newAgent();
    const failed = await echoHost.api("/serve", "POST", { agent: agent.name, message: "broken" });
    expect(failed.status).toBe(503);
    expect(failed.body.error).toMatchObject({
      code: "unavailable",
      message: expect.any(String),
      details: { suggestion: expect.any(String) },
    });
    const canceled = echoHost.api("/serve", "POST", { agent: agent.name, message: "slow" });
    await waitUntil("the turn to run", async () => (await agent.run()).status === "running");
    await agent.cancel();
    expect((await canceled).status).toBe(409);
  });

  test("suggests the agent or model that was probably meant", async () => {
    await echoHost.newAgent({ name: "penelope" });
    const unknown = await echoHost.api("/serve", "POST", { agent: "penlope", message: "hello" });
    expect(unknown.status).toBe(404);
    expect(unknown.body.error).toMatchObject({
      message: expect.stringContaining("penelope"),
      details: { suggestion: "penelope" },
    });
    const elsewhere = await echoHost.api("/serve", "POST", { agent: "penelope@gloobal", message: "hello" });
    expect(elsewhere.body.error.details).toEqual({ suggestion: "penelope@global" });
    const agent = await echoHost.newAgent({ model: "scripted:parot" });
    const noModel = await echoHost.api("/serve", "POST", { agent: agent.name, message: "hello" });
    expect(noModel.status).toBe(503);
    expect(JSON.stringify(noModel.body.error)).toContain("parrot");
  });
});

describe("inline agents", () => {
  const pair = { one: { model: "scripted:parrot", system_prompt: "Be one." }, two: { model: "scripted:parrot" } };

  test("run in an agency of their own, each with its output under its name", async () => {
    const { status, body } = await echoHost.api("/serve", "POST", { agents: pair, tag: "pr-1", message: "hello" });
    expect(status).toBe(200);
    expect(body.content).toBe("one:\nYou said: hello\n\ntwo:\nYou said: hello");
    expect(body.outcomes.map(({ agent }: { agent: string }) => agent)).toEqual(["one", "two"]);
    expect(body.usage.outputTokens).toBe(body.outcomes[0].usage.outputTokens + body.outcomes[1].usage.outputTokens);
    const { agents } = (await echoHost.api("/agency/run:pr-1/agents")).body;
    expect(agents).toMatchObject([{ name: "one", blueprint: "think", system: "Be one." }, { name: "two" }]);

    await echoHost.api("/serve", "POST", { agents: pair, tag: "pr-1", message: "again" });
    expect((await echoHost.api("/agency/run:pr-1/agent/one/messages")).body.messages).toHaveLength(4);
  });

  test("stream together, and each event is complete and names its agent", async () => {
    const events: any[] = [];
    const body = { workflow: { name: "review", agents: pair }, tag: "pr-2", message: "make a plan" };
    for await (const { data } of readEvents(await echoHost.open("/run", { body }))) events.push(JSON.parse(data));
    for (const agent of ["one", "two"]) {
      const own = events.filter((event) => event.agent === agent);
      expect(
        own
          .filter(({ type }) => type === "chunk")
          .map(({ text }) => text)
          .join(""),
      ).toBe("I will note it.All noted.");
      expect(own.at(-1)).toMatchObject({ type: "done", status: "completed" });
    }
    expect((await echoHost.api("/agency/review:pr-2/agents")).body.agents).toHaveLength(2);
  });

  test("get a new agency per request unless the tag or the key is the same, also for concurrent requests", async () => {
    const listAgencies = async () =>
      (await echoHost.host.client.call("listAgencies", { query: { limit: 500 } })).agencies.map(({ id }) => id);
    const before = await listAgencies();
    const serve = (body: object) =>
      echoHost.api("/serve", "POST", { agents: { one: pair.one }, message: "hello", ...body });
    await Promise.all([serve({}), serve({})]);
    expect(await listAgencies()).toHaveLength(before.length + 2);
    const responses = await Promise.all(Array.from({ length: 8 }, () => serve({ idempotencyKey: "same" })));
    expect(new Set(responses.map(({ body }) => body.outcomes[0].runId)).size).toBe(1);
    expect(await listAgencies()).toHaveLength(before.length + 3);
  });

  test("fail together if one fails, and the error names it", async () => {
    const response = await echoHost.api("/serve", "POST", {
      agents: { one: pair.one, bad: { model: "scripted:nobody" } },
      message: "hello",
    });
    expect(response.status).toBe(503);
    expect(response.body.error.message).toMatch(/^bad: /);
  });
});
