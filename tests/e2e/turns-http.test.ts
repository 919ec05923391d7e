import { agentExportSchema, type AgentEvent, agentStateSchema, type Message } from "@thinkery/sdk";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type EchoHost, openEchoHost } from "../kit/echo-host.ts";
import { readEvents as sse } from "../kit/sse.ts";
import { waitUntil } from "../kit/wait-until.ts";

// Talking to agents over plain HTTP, with a scripted model that goes through the real loop.

let aviary: EchoHost;

beforeAll(async () => {
  aviary = await openEchoHost();
});

afterAll(() => aviary?.stop());

describe("invoke", () => {
  test("is answered at once with 202, and the turn ends by itself", async () => {
    const agent = await aviary.newAgent();
    const answer = await agent.invoke({ message: "hello" });
    expect(answer.status).toBe(202);
    expect(answer.body).toMatchObject({ runId: expect.any(String), messageId: expect.any(String), position: 0 });
    expect(["registered", "running"]).toContain(answer.body.status);
    await waitUntil("the answer", async () => (await agent.run()).status === "completed");
    const { messages } = await aviary.house.client.call("listMessages", { params: agent.params });
    expect(messages.map(({ role, content, status }) => [role, content, status])).toEqual([
      ["user", "hello", "complete"],
      ["assistant", "You said: hello", "complete"],
    ]);
  });

  test("with the same key twice, or many times at once, is one turn", async () => {
    const agent = await aviary.newAgent();
    const body = { messages: [{ role: "user", content: "once" }], idempotencyKey: "key-1" };
    const answers = await Promise.all(Array.from({ length: 10 }, () => agent.invoke(body)));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([202]));
    expect(new Set(answers.map(({ body }) => body.runId)).size).toBe(1);
    expect(answers.filter(({ body }) => body.duplicate)).toHaveLength(9);
    await waitUntil("the end", async () => (await agent.run()).status === "completed");
    expect((await agent.invoke(body)).body).toMatchObject({
      runId: answers[0]?.body.runId,
      duplicate: true,
      status: "completed",
    });
    expect((await aviary.api(`${agent.at}/messages`)).body.messages).toHaveLength(2);
  });

  test("queues behind the turn that runs, and says at which place", async () => {
    const agent = await aviary.newAgent();
    await agent.invoke({ message: "slow" });
    const [second, third] = [await agent.invoke({ message: "second" }), await agent.invoke({ message: "third" })];
    expect([second.body.position, third.body.position]).toEqual([1, 2]);
    expect((await agent.cancel({ runId: third.body.runId })).body).toEqual({
      runId: third.body.runId,
      status: "canceled",
    });
    await agent.cancel();
    await waitUntil("the second", async () =>
      (await agent.log()).some(({ type, data }) => type === "agent.completed" && data.runId === second.body.runId),
    );
    const { messages } = (await aviary.api(`${agent.at}/messages`)).body;
    expect(messages.filter(({ role }: Message) => role === "assistant").at(-1).content).toBe("You said: second");
  });

  test("with texts and pictures gives them to the agent, and its blobs back to whoever may read", async () => {
    const agent = await aviary.newAgent();
    const data = Buffer.from("a picture, says the sender");
    const page = Buffer.from("<script>alert(1)</script>");
    await agent.invoke({
      message: "look",
      files: { "notes.txt": "some notes" },
      attachments: [
        { name: "a.png", mediaType: "image/png", data: data.toString("base64") },
        { name: "a.html", mediaType: "text/html", data: page.toString("base64") },
      ],
    });
    const { messages } = (await aviary.api(`${agent.at}/messages`)).body;
    const [picture, html] = messages[0].attachments;
    expect(picture).toMatchObject({ name: "a.png", mediaType: "image/png", size: data.length });
    const shown = await aviary.ask(`${agent.at}/blobs/${picture.blob}`);
    expect(Buffer.from(await shown.arrayBuffer())).toEqual(data);
    expect(shown.headers.get("content-type")).toBe("image/png");
    const saved = await aviary.ask(`${agent.at}/blobs/${html.blob}`);
    expect(saved.headers.get("content-disposition")).toBe("attachment");
    expect(saved.headers.get("content-security-policy")).toContain("sandbox");
    expect(Buffer.from(await saved.arrayBuffer())).toEqual(page);

    const other = await aviary.newAgent();
    expect((await aviary.api(`${other.at}/blobs/${picture.blob}`)).status).toBe(404);
    expect((await aviary.api(`${agent.at}/blobs/${"0".repeat(64)}`)).status).toBe(404);
    expect((await aviary.api(`${agent.at}/blobs/..%2f..%2ftoken`)).status).toBe(400);
  });

  test("takes up to 8 MiB with attachments, and says so when there is more", async () => {
    const agent = await aviary.newAgent();
    const attachment = (bytes: number) => ({
      mediaType: "application/octet-stream",
      data: Buffer.alloc(bytes).toString("base64"),
    });
    expect((await agent.invoke({ message: "big", attachments: [attachment(5_000_000)] })).status).toBe(202);
    const huge = await agent.invoke({ message: "huge", attachments: [attachment(7_000_000)] });
    expect(huge.status).toBe(413);
    expect(huge.body.error.message).toContain("8388608");
    const long = await agent.invoke({ message: "x".repeat(5_000_000) });
    expect(long.status).toBe(400);
    expect(long.body.error).toMatchObject({ code: "bad_request", details: { problems: [{ path: ["message"] }] } });
    await agent.say("still there?");
  });
});

describe("what an agent keeps", () => {
  test("its state has the shape clients of the seed know, with who asked", async () => {
    const agent = await aviary.newAgent();
    await agent.say("make a plan");
    const { state, run } = (await aviary.api(`${agent.at}/state`)).body;
    agentStateSchema.parse(state);
    expect(run).toMatchObject({ runId: expect.any(String), status: "completed", step: 3 });
    expect(state).toMatchObject({
      threadId: `global~${agent.name}`,
      agentType: "think",
      model: "scripted:parrot",
      title: "A plan",
      todos: [{ content: "one", status: "pending" }],
      thread: { id: `global~${agent.name}`, agencyId: "global", agentType: "think", createdAt: expect.any(String) },
    });
    expect(state.thread.request).toMatchObject({ userAgent: expect.stringContaining("node") });
    expect(state.tools.map(({ name }: { name: string }) => name)).toEqual(
      expect.arrayContaining(["write_todos", "set_title"]),
    );
    expect(state.messages.map(({ role }: { role: string }) => role)).toEqual([
      "user",
      "assistant",
      "tool",
      "assistant",
      "tool",
      "tool",
      "assistant",
    ]);
    expect(state.messages[1].toolCalls[0]).toMatchObject({
      name: "write_todos",
      args: { todos: [{ content: "one" }] },
    });
    expect(state.messages[2].toolCallId).toBe(state.messages[1].toolCalls[0].id);
  });

  test("its events come in pages, numbered without a gap", async () => {
    const agent = await aviary.newAgent();
    await agent.say("make a plan");
    const paged: AgentEvent[] = [];
    let after: number | undefined;
    do {
      const { body } = await aviary.api(`${agent.at}/events?limit=7${after === undefined ? "" : `&after=${after}`}`);
      paged.push(...body.events);
      after = body.next;
    } while (after !== undefined);
    expect(paged.map(({ seq }) => seq)).toEqual(paged.map((_, index) => index + 1));
    expect(paged).toEqual(await agent.log());
    const types = paged.map(({ type }) => type);
    expect(types).toEqual(
      expect.arrayContaining([
        "request.accepted",
        "run.started",
        "model.started",
        "model.completed",
        "tool.started",
        "tool.output",
        "tool.error",
        "todos.updated",
        "title.set",
        "agent.completed",
      ]),
    );
    for (const bad of ["limit=0", "limit=1001", "after=-1", "after=x", "colour=red"]) {
      expect([bad, (await aviary.api(`${agent.at}/events?${bad}`)).status]).toEqual([bad, 400]);
    }
  });

  test("its events come live, and resume where the last one ended", async () => {
    const agent = await aviary.newAgent();
    const live = await aviary.open(`${agent.at}/events`);
    expect(live.headers.get("content-type")).toContain("text/event-stream");
    expect(live.headers.get("cache-control")).toBe("no-store");
    const told: AgentEvent[] = [];
    const following = (async () => {
      for await (const event of sse(live)) {
        const parsed = JSON.parse(event.data) as AgentEvent;
        expect([event.id, event.type]).toEqual([String(parsed.seq), parsed.type]);
        told.push(parsed);
        if (parsed.type === "agent.completed") return;
      }
    })();
    await agent.say("make a plan");
    await following;
    const log = await agent.log();
    // Without a number it tells what comes from now on; the agent's creation was before.
    expect(told).toEqual(log.slice(1));

    const resume = async (headers: Record<string, string>, query = "") => {
      for await (const event of sse(await aviary.open(`${agent.at}/events${query}`, { headers })))
        return Number(event.id);
    };
    expect(await resume({ "last-event-id": "4" })).toBe(5);
    expect(await resume({}, "?after=6")).toBe(7);
    expect(await resume({}, "?after=0")).toBe(1);
    expect(await resume({ "last-event-id": "8" }, "?after=2")).toBe(9);
    expect((await aviary.open(`${agent.at}/events`, { headers: { "last-event-id": "x" } })).status).toBe(400);
    // A HEAD ends, although a GET would go on.
    expect((await aviary.api(`${agent.at}/events`, "HEAD", undefined, { accept: "text/event-stream" })).status).toBe(
      200,
    );
  });

  test("its messages come in pages, the newest first to be had", async () => {
    const agent = await aviary.newAgent();
    for (const message of ["one", "two", "three"]) await agent.say(message);
    const all: Message[] = (await aviary.api(`${agent.at}/messages`)).body.messages;
    expect(all.map(({ content }) => content)).toEqual([
      "one",
      "You said: one",
      "two",
      "You said: two",
      "three",
      "You said: three",
    ]);
    const newest = (await aviary.api(`${agent.at}/messages?limit=4`)).body;
    expect(newest.messages).toEqual(all.slice(2));
    const older = (await aviary.api(`${agent.at}/messages?limit=4&before=${newest.messages[0].seq}`)).body;
    expect(older.messages).toEqual(all.slice(0, 2));
    expect(older.next).toBeUndefined();
  });

  test("its actions can be filtered", async () => {
    const agent = await aviary.newAgent();
    await agent.say("make a plan");
    const list = async (query = "") =>
      (await aviary.api(`${agent.at}/actions${query}`)).body.actions as {
        id: string;
        tool: string;
        success: boolean;
        messageId: string;
        timestamp: number;
      }[];
    const all = await list();
    expect(all.map(({ tool }) => tool).sort()).toEqual(["no_such_tool", "set_title", "write_todos"]);
    expect((await list("?tool=set_title")).map(({ tool }) => tool)).toEqual(["set_title"]);
    expect((await list("?success=false")).map(({ tool }) => tool)).toEqual(["no_such_tool"]);
    expect(await list("?success=true")).toHaveLength(2);
    const one = all.find(({ tool }) => tool === "write_todos");
    expect((await list(`?message=${one?.messageId}`)).map(({ tool }) => tool)).toContain("write_todos");
    expect(await list(`?since=${Date.now() + 60_000}`)).toEqual([]);
    const first = (await aviary.api(`${agent.at}/actions?limit=2`)).body;
    const rest = (await aviary.api(`${agent.at}/actions?limit=2&after=${first.next}`)).body;
    expect([...first.actions, ...rest.actions].map(({ id }) => id).sort()).toEqual(all.map(({ id }) => id).sort());
    expect((await aviary.api(`${agent.at}/actions?success=maybe`)).status).toBe(400);
  });

  test("its usage counts every call, and an export has it all", async () => {
    const agent = await aviary.newAgent();
    await agent.say("make a plan");
    const { budget, ...usage } = (await aviary.api(`${agent.at}/usage`)).body;
    expect(budget).toEqual([]);
    expect(usage).toMatchObject({
      total: { calls: 3, costUsd: 0 },
      byModel: [{ model: "scripted:parrot", calls: 3 }],
      turns: { completed: 1, error: 0, canceled: 0, open: 0 },
    });
    expect(usage.total.outputTokens).toBeGreaterThan(0);
    const exported = (await aviary.api(`${agent.at}/export`)).body;
    agentExportSchema.parse(exported);
    expect(exported).toMatchObject({
      format: "thinkery-agent",
      version: 1,
      agent: { name: agent.name },
      title: "A plan",
      usage,
    });
    expect(exported.events).toEqual(await agent.log());
    expect(exported.messages).toEqual((await aviary.api(`${agent.at}/messages`)).body.messages);
    expect(exported.actions).toHaveLength(3);
  });

  test("it can be cleared, but not under a running turn", async () => {
    const agent = await aviary.newAgent();
    await agent.say("remember this");
    await agent.invoke({ message: "slow" });
    const refused = await aviary.api(`${agent.at}/messages`, "DELETE");
    expect(refused.status).toBe(409);
    await agent.cancel();
    await waitUntil("the end", async () => (await agent.run()).status === "canceled");
    expect((await aviary.api(`${agent.at}/messages`, "DELETE")).status).toBe(204);
    expect((await aviary.api(`${agent.at}/messages`)).body.messages).toEqual([]);
    await agent.say("anew");
    expect((await aviary.api(`${agent.at}/messages`)).body.messages).toHaveLength(2);
  });
});

test("a turn is canceled with a body and without, and an idle agent has nothing to cancel", async () => {
  const agent = await aviary.newAgent();
  for (const body of [undefined, {}]) {
    const { runId } = (await agent.invoke({ message: "slow" })).body;
    await waitUntil("the turn to run", async () => (await agent.run()).status === "running");
    expect((await agent.cancel(body)).body).toEqual({ runId, status: "canceled" });
    expect(await agent.run()).toMatchObject({ runId, status: "canceled" });
  }
  expect((await agent.cancel()).status).toBe(200);
  expect((await agent.cancel({ runId: 5 })).status).toBe(400);
  expect((await aviary.api(`${agent.at}/cancel`, "POST", "x", { "content-type": "text/plain" })).status).toBe(415);
});
