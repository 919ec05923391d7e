import { agentExportSchema, type AgentEvent, agentStateSchema, type Message } from "@thinkery/sdk";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type EchoHost, openEchoHost } from "../kit/echo-host.ts";
import { readEvents } from "../kit/sse.ts";
import { waitUntil } from "../kit/wait-until.ts";

// Agents over plain HTTP, with a scripted model that goes through the real loop.

let echoHost: EchoHost;

beforeAll(async () => {
  echoHost = await openEchoHost();
});

afterAll(() => echoHost?.stop());

describe("invoke", () => {
  test("responds with 202 at once, and the turn completes in the background", async () => {
    const agent = await echoHost.newAgent();
    const response = await agent.invoke({ message: "hello" });
    expect(response.status).toBe(202);
    expect(response.body).toMatchObject({ runId: expect.any(String), messageId: expect.any(String), position: 0 });
    expect(["registered", "running"]).toContain(response.body.status);
    await waitUntil("the turn to complete", async () => (await agent.run()).status === "completed");
    const { messages } = await echoHost.host.client.call("listMessages", { params: agent.params });
    expect(messages.map(({ role, content, status }) => [role, content, status])).toEqual([
      ["user", "hello", "complete"],
      ["assistant", "You said: hello", "complete"],
    ]);
  });

  test("with the same key is one turn, sequentially or concurrently", async () => {
    const agent = await echoHost.newAgent();
    const body = { messages: [{ role: "user", content: "once" }], idempotencyKey: "key-1" };
    const responses = await Promise.all(Array.from({ length: 10 }, () => agent.invoke(body)));
    expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([202]));
    expect(new Set(responses.map(({ body }) => body.runId)).size).toBe(1);
    expect(responses.filter(({ body }) => body.duplicate)).toHaveLength(9);
    await waitUntil("the end", async () => (await agent.run()).status === "completed");
    expect((await agent.invoke(body)).body).toMatchObject({
      runId: responses[0]?.body.runId,
      duplicate: true,
      status: "completed",
    });
    expect((await echoHost.api(`${agent.at}/messages`)).body.messages).toHaveLength(2);
  });

  test("queues behind the running turn and returns the position", async () => {
    const agent = await echoHost.newAgent();
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
    const { messages } = (await echoHost.api(`${agent.at}/messages`)).body;
    expect(messages.filter(({ role }: Message) => role === "assistant").at(-1).content).toBe("You said: second");
  });

  test("accepts files and attachments, and serves the attachments as blobs", async () => {
    const agent = await echoHost.newAgent();
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
    const { messages } = (await echoHost.api(`${agent.at}/messages`)).body;
    const [picture, html] = messages[0].attachments;
    expect(picture).toMatchObject({ name: "a.png", mediaType: "image/png", size: data.length });
    const imageResponse = await echoHost.ask(`${agent.at}/blobs/${picture.blob}`);
    expect(Buffer.from(await imageResponse.arrayBuffer())).toEqual(data);
    expect(imageResponse.headers.get("content-type")).toBe("image/png");
    const htmlResponse = await echoHost.ask(`${agent.at}/blobs/${html.blob}`);
    expect(htmlResponse.headers.get("content-disposition")).toBe("attachment");
    expect(htmlResponse.headers.get("content-security-policy")).toContain("sandbox");
    expect(Buffer.from(await htmlResponse.arrayBuffer())).toEqual(page);

    const other = await echoHost.newAgent();
    expect((await echoHost.api(`${other.at}/blobs/${picture.blob}`)).status).toBe(404);
    expect((await echoHost.api(`${agent.at}/blobs/${"0".repeat(64)}`)).status).toBe(404);
    expect((await echoHost.api(`${agent.at}/blobs/..%2f..%2ftoken`)).status).toBe(400);
  });

  test("accepts up to 8 MiB with attachments, and the error of a larger body names the limit", async () => {
    const agent = await echoHost.newAgent();
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
    expect(long.body.error).toMatchObject({ code: "bad_request", details: { issues: [{ path: ["message"] }] } });
    await agent.say("still there?");
  });
});

describe("data of an agent", () => {
  test("state has the shape of the seed's clients, with the request context", async () => {
    const agent = await echoHost.newAgent();
    await agent.say("make a plan");
    const { state, run } = (await echoHost.api(`${agent.at}/state`)).body;
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

  test("events are paged and numbered without gaps", async () => {
    const agent = await echoHost.newAgent();
    await agent.say("make a plan");
    const paged: AgentEvent[] = [];
    let after: number | undefined;
    do {
      const { body } = await echoHost.api(`${agent.at}/events?limit=7${after === undefined ? "" : `&after=${after}`}`);
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
      expect([bad, (await echoHost.api(`${agent.at}/events?${bad}`)).status]).toEqual([bad, 400]);
    }
  });

  test("events are streamed live and resume after the last one", async () => {
    const agent = await echoHost.newAgent();
    const live = await echoHost.open(`${agent.at}/events`);
    expect(live.headers.get("content-type")).toContain("text/event-stream");
    expect(live.headers.get("cache-control")).toBe("no-store");
    const received: AgentEvent[] = [];
    const following = (async () => {
      for await (const event of readEvents(live)) {
        const parsed = JSON.parse(event.data) as AgentEvent;
        expect([event.id, event.type]).toEqual([String(parsed.seq), parsed.type]);
        received.push(parsed);
        if (parsed.type === "agent.completed") return;
      }
    })();
    await agent.say("make a plan");
    await following;
    const log = await agent.log();
    // Without `after` the stream starts with new events; the agent's creation came before.
    expect(received).toEqual(log.slice(1));

    const resume = async (headers: Record<string, string>, query = "") => {
      for await (const event of readEvents(await echoHost.open(`${agent.at}/events${query}`, { headers })))
        return Number(event.id);
    };
    expect(await resume({ "last-event-id": "4" })).toBe(5);
    expect(await resume({}, "?after=6")).toBe(7);
    expect(await resume({}, "?after=0")).toBe(1);
    expect(await resume({ "last-event-id": "8" }, "?after=2")).toBe(9);
    expect((await echoHost.open(`${agent.at}/events`, { headers: { "last-event-id": "x" } })).status).toBe(400);
    // HEAD completes, although GET would keep streaming.
    expect((await echoHost.api(`${agent.at}/events`, "HEAD", undefined, { accept: "text/event-stream" })).status).toBe(
      200,
    );
  });

  test("messages are paged from the newest back", async () => {
    const agent = await echoHost.newAgent();
    for (const message of ["one", "two", "three"]) await agent.say(message);
    const all: Message[] = (await echoHost.api(`${agent.at}/messages`)).body.messages;
    expect(all.map(({ content }) => content)).toEqual([
      "one",
      "You said: one",
      "two",
      "You said: two",
      "three",
      "You said: three",
    ]);
    const newest = (await echoHost.api(`${agent.at}/messages?limit=4`)).body;
    expect(newest.messages).toEqual(all.slice(2));
    const older = (await echoHost.api(`${agent.at}/messages?limit=4&before=${newest.messages[0].seq}`)).body;
    expect(older.messages).toEqual(all.slice(0, 2));
    expect(older.next).toBeUndefined();
  });

  test("actions can be filtered", async () => {
    const agent = await echoHost.newAgent();
    await agent.say("make a plan");
    const list = async (query = "") =>
      (await echoHost.api(`${agent.at}/actions${query}`)).body.actions as {
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
    const action = all.find(({ tool }) => tool === "write_todos");
    expect((await list(`?message=${action?.messageId}`)).map(({ tool }) => tool)).toContain("write_todos");
    expect(await list(`?since=${Date.now() + 60_000}`)).toEqual([]);
    const first = (await echoHost.api(`${agent.at}/actions?limit=2`)).body;
    const rest = (await echoHost.api(`${agent.at}/actions?limit=2&after=${first.next}`)).body;
    expect([...first.actions, ...rest.actions].map(({ id }) => id).sort()).toEqual(all.map(({ id }) => id).sort());
    expect((await echoHost.api(`${agent.at}/actions?success=maybe`)).status).toBe(400);
  });

  test("usage counts every call, and an export contains everything", async () => {
    const agent = await echoHost.newAgent();
    await agent.say("make a plan");
    const { budget, ...usage } = (await echoHost.api(`${agent.at}/usage`)).body;
    expect(budget).toEqual([]);
    expect(usage).toMatchObject({
      total: { calls: 3, costUsd: 0 },
      byModel: [{ model: "scripted:parrot", calls: 3 }],
      turns: { completed: 1, error: 0, canceled: 0, open: 0 },
    });
    expect(usage.total.outputTokens).toBeGreaterThan(0);
    const exported = (await echoHost.api(`${agent.at}/export`)).body;
    agentExportSchema.parse(exported);
    expect(exported).toMatchObject({
      format: "thinkery-agent",
      version: 1,
      agent: { name: agent.name },
      title: "A plan",
      usage,
    });
    expect(exported.events).toEqual(await agent.log());
    expect(exported.messages).toEqual((await echoHost.api(`${agent.at}/messages`)).body.messages);
    expect(exported.actions).toHaveLength(3);
  });

  test("messages can be cleared, but not during a turn", async () => {
    const agent = await echoHost.newAgent();
    await agent.say("remember this");
    await agent.invoke({ message: "slow" });
    const conflict = await echoHost.api(`${agent.at}/messages`, "DELETE");
    expect(conflict.status).toBe(409);
    await agent.cancel();
    await waitUntil("the end", async () => (await agent.run()).status === "canceled");
    expect((await echoHost.api(`${agent.at}/messages`, "DELETE")).status).toBe(204);
    expect((await echoHost.api(`${agent.at}/messages`)).body.messages).toEqual([]);
    await agent.say("hello again");
    expect((await echoHost.api(`${agent.at}/messages`)).body.messages).toHaveLength(2);
  });
});

test("a turn can be canceled with and without a body, and canceling an idle agent does nothing", async () => {
  const agent = await echoHost.newAgent();
  for (const body of [undefined, {}]) {
    const { runId } = (await agent.invoke({ message: "slow" })).body;
    await waitUntil("the turn to run", async () => (await agent.run()).status === "running");
    expect((await agent.cancel(body)).body).toEqual({ runId, status: "canceled" });
    expect(await agent.run()).toMatchObject({ runId, status: "canceled" });
  }
  expect((await agent.cancel()).status).toBe(200);
  expect((await agent.cancel({ runId: 5 })).status).toBe(400);
  expect((await echoHost.api(`${agent.at}/cancel`, "POST", "x", { "content-type": "text/plain" })).status).toBe(415);
});
