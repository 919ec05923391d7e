import type { TeamFrame } from "@thinkery/sdk";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { WebSocket } from "ws";
import { openTeam } from "../kit/team.ts";
import { waitUntil } from "../kit/wait-until.ts";
import { openTestbed, type Testbed } from "../kit/worker/testbed.ts";

let testbed: Testbed;

const send = (input: object) => ({ call: { tool: "channel_send", input } });

beforeAll(async () => {
  testbed = await openTestbed({
    scripts: {
      parrot: [{ steps: [{ text: "You said: {{ message }}" }] }],
      asker: [
        { when: "from bob", steps: [{ text: "Bob answered." }] },
        {
          when: "ask bob",
          steps: [send({ message: "@bob, what is the answer?" }), { text: "{{ results.channel_send }}" }],
        },
        {
          when: "misspell",
          steps: [send({ message: "@bobb, are you there?" }), { text: "{{ results.channel_send }}" }],
        },
        {
          when: "whisper",
          steps: [send({ message: "psst", channel: "@bob" }), { text: "{{ results.channel_send }}" }],
        },
        { steps: [{ text: "ok" }] },
      ],
      answerer: [{ steps: [send({ message: "@alice, 42" }), { text: "Answered." }] }],
      broken: [{ steps: [{ fail: 401 }] }],
      slow: [{ when: "later", steps: [{ text: "Handled." }] }, { steps: [{ wait: 600_000 }, { text: "Late." }] }],
      reader: [
        {
          when: "read",
          steps: [
            { call: { tool: "my_inbox", input: {} } },
            { call: { tool: "channel_read", input: { limit: 5 } } },
            { call: { tool: "my_status_set", input: { status: "reading", task: "the news" } } },
            { text: "{{ results.my_inbox }} {{ results.channel_read }}" },
          ],
        },
        {
          when: "put off",
          steps: [
            { call: { tool: "my_inbox", input: {} } },
            { call: { tool: "my_inbox_defer", input: { id: "msg-1", until: 1 } } },
            { text: "Later." },
          ],
        },
        { steps: [{ text: "ok" }] },
      ],
      polite: [{ steps: [send({ message: "Thank you, @bob, thank you @alice!" }), { text: "Thanked." }] }],
    },
  });
}, 60_000);

afterAll(() => testbed?.stop());

describe("messages", () => {
  test("a mention gives an agent a turn with the message verbatim, and is acknowledged when that succeeds", async () => {
    const team = await openTeam(testbed, { alice: "parrot", bob: "parrot" });
    const posted = await team.post("Hello @alice,\n\nhow *are* you?");
    expect(posted).toMatchObject({ id: "msg-1", channel: "general", from: "owner", fromKind: "user", to: ["alice"] });
    await team.settle("alice");
    expect(await team.inbox("alice")).toMatchObject([
      { id: "msg-1", status: "acked", attempts: 1, channel: "general", from: "owner", content: posted.content },
    ]);
    const messages = await team.agent("alice").messages();
    expect(messages[0]?.content).toBe("[msg-1 from owner in #general]\nHello @alice,\n\nhow *are* you?");
    expect(await team.inbox("bob")).toEqual([]);
    expect(await team.agent("bob").messages()).toEqual([]);
    // What an agent answers is not posted by itself.
    expect(await team.read()).toHaveLength(1);
  });

  test("agents write to each other with channel_send, and hear who answered", async () => {
    const team = await openTeam(testbed, { alice: "asker", bob: "answerer" });
    await team.post("@alice, ask bob");
    await waitUntil("the answer", async () => (await team.inbox("alice")).length === 2);
    await team.settle("alice", "bob");
    expect((await team.read()).map(({ from, fromKind, content, to }) => ({ from, fromKind, content, to }))).toEqual([
      { from: "owner", fromKind: "user", content: "@alice, ask bob", to: ["alice"] },
      { from: "alice", fromKind: "agent", content: "@bob, what is the answer?", to: ["bob"] },
      { from: "bob", fromKind: "agent", content: "@alice, 42", to: ["alice"] },
    ]);
    expect((await team.agent("alice").messages()).at(-1)?.content).toBe("Bob answered.");
  });

  test("mentions are the agency's real names, whatever their case, and nothing else", async () => {
    const team = await openTeam(testbed, { "kimi-code": "parrot", kimi: "parrot", "v1.2": "parrot" });
    const to = async (content: string) => (await team.post(content)).to.toSorted();
    expect(await to("@kimi-code, look")).toEqual(["kimi-code"]);
    expect(await to("ask @KIMI. And @v1.2!")).toEqual(["kimi", "v1.2"]);
    expect(await to("mail me@kimi.example or see `@kimi` and\n```\n@v1.2\n```")).toEqual([]);
    const unknown = await team.post("@kimi-cod and @owner");
    expect(unknown).toMatchObject({ to: [], unknown: [{ name: "kimi-cod", suggestion: "kimi-code" }] });
    const refused = await testbed.api(`${team.at}/channels/general/messages`, "POST", { content: "x", to: "kimm" });
    expect(refused).toMatchObject({ status: 404, body: { error: { details: { suggestion: "kimi" } } } });
  });

  test("a model hears that it mentioned nobody, and whom it may have meant", async () => {
    const team = await openTeam(testbed, { alice: "asker", bob: "parrot" });
    await team.post("@alice, misspell");
    await team.settle("alice");
    expect((await team.agent("alice").messages()).at(-1)?.content).toContain("@bobb (did you mean @bob?)");
  });

  test("the same key is the same message", async () => {
    const team = await openTeam(testbed, { alice: "parrot" });
    const post = () =>
      testbed.api(`${team.at}/channels/general/messages`, "POST", { content: "@alice once", idempotencyKey: "k" });
    const responses = await Promise.all(Array.from({ length: 6 }, post));
    expect(new Set(responses.map(({ body }) => body.id))).toEqual(new Set(["msg-1"]));
    expect(await team.read()).toHaveLength(1);
    expect(await team.inbox("alice")).toHaveLength(1);
  });

  test("direct messages reach the other one only, and no third agent can read them", async () => {
    const team = await openTeam(testbed, { alice: "asker", bob: "parrot", eve: "parrot" });
    await team.post("@alice, whisper");
    await waitUntil("bob to hear it", async () => (await team.inbox("bob")).length === 1);
    await team.settle("bob");
    expect((await team.agent("bob").messages())[0]?.content).toBe("[msg-2 from alice in @alice]\npsst");
    const { channels } = await team.api("/channels");
    expect(channels).toMatchObject([
      { name: "alice+bob", kind: "direct", members: ["alice", "bob"], messages: 1 },
      { name: "general", kind: "channel" },
    ]);
    const mine = await team.api("/channels/@eve/messages", "POST", { content: "hi eve" });
    expect(mine).toMatchObject({ channel: "eve+~owner", to: ["eve"] });
  });

  test("threads, channels of their own, dates and pages", async () => {
    const team = await openTeam(testbed, { alice: "parrot" });
    expect(await team.api("/channels", "POST", { name: "news", description: "What is new" })).toMatchObject({
      id: "news",
    });
    await team.api("/channels", "POST", { name: "News" }, 409);
    for (let number = 1; number <= 5; number++)
      await team.api("/channels/news/messages", "POST", { content: `item ${number}` });
    const answer = await team.api("/channels/NEWS/messages", "POST", { content: "an answer", thread: "msg-2" });
    await team.api("/channels/news/messages", "POST", { content: "another", thread: answer.id });
    const thread = await team.api("/channels/news/messages?thread=msg-2");
    expect(thread.messages.map(({ content }: { content: string }) => content)).toEqual([
      "item 2",
      "an answer",
      "another",
    ]);
    expect(thread.messages[0].replies).toBe(2);
    const first = await team.api("/channels/news/messages?limit=3");
    expect(first.messages.map(({ id }: { id: string }) => id)).toEqual(["msg-1", "msg-2", "msg-3"]);
    const next = await team.api(`/channels/news/messages?limit=3&after=${first.next}`);
    expect(next.messages[0].id).toBe("msg-4");
    const last = await team.api("/channels/news/messages?limit=2&newest=1");
    expect([last.messages.map(({ id }: { id: string }) => id), last.previous]).toEqual([["msg-6", "msg-7"], "msg-6"]);
    const before = await team.api(`/channels/news/messages?limit=2&before=${last.previous}`);
    expect(before.messages.map(({ id }: { id: string }) => id)).toEqual(["msg-4", "msg-5"]);
    const since = await team.api("/channels/news/messages?since=msg-5&until=msg-6");
    expect(since.messages.map(({ id }: { id: string }) => id)).toEqual(["msg-6"]);
    const dated = await team.api(`/channels/news/messages?since=${thread.messages[2].createdAt}`);
    expect(dated.messages.map(({ id }: { id: string }) => id)).toContain("msg-7");
    await team.api("/channels/news/messages?since=yesterday", "GET", undefined, 400);
    await team.api("/channels/news", "DELETE", undefined, 204);
    await team.api("/channels/news/messages", "GET", undefined, 404);
    await team.api("/channels/general", "DELETE", undefined, 409);
  });
});

describe("inboxes", () => {
  test("messages that come while an agent works are handled together afterwards, the urgent ones first", async () => {
    const team = await openTeam(testbed, { alice: "slow" });
    await team.post("@alice, begin");
    await waitUntil("alice to work", async () => (await team.agent("alice").run()).status === "running");
    await team.post("@alice, later 1");
    await team.post("@alice, later 2", { priority: "low" });
    await team.post("@alice, later 3", { priority: "high" });
    expect((await team.inbox("alice")).map(({ status }) => status)).toEqual(["seen", "pending", "pending", "pending"]);
    await testbed.api(`${team.at}/agent/alice/cancel`, "POST", {});
    await team.settle("alice");
    const inputs = (await team.agent("alice").messages()).filter(({ role }) => role === "user");
    expect(inputs.map(({ content }) => content)).toEqual([
      "[msg-1 from owner in #general]\n@alice, begin",
      [4, 2, 3].map((number) => `[msg-${number} from owner in #general]\n@alice, later ${number - 1}`).join("\n\n"),
    ]);
    const [canceled, ...others] = await team.inbox("alice");
    expect(canceled).toMatchObject({ status: "given_up", error: "The turn was canceled." });
    expect(others.map(({ status }) => status)).toEqual(["acked", "acked", "acked"]);
  });

  test("a message whose turn fails comes again, and is given up in the end with the reason in its channel", async () => {
    const team = await openTeam(testbed, { alice: "broken" });
    await testbed.api(`${team.at}`, "PATCH", { settings: { maxAttempts: 2, backoffSeconds: 0 } });
    await team.post("@alice, try");
    await team.settle("alice");
    const [item] = await team.inbox("alice");
    expect(item).toMatchObject({ status: "given_up", error: expect.any(String) });
    const notice = (await team.read()).at(-1);
    expect(notice).toMatchObject({ fromKind: "host", thread: "msg-1", content: expect.stringContaining("given up") });
    await team.api("/inbox/alice/retry", "POST", { ids: ["msg-1"] }, 200);
    await waitUntil("another attempt", async () => (await team.read()).length === 3);
  });

  test("an item can be acknowledged or put off by a person, but not the item of another inbox", async () => {
    const team = await openTeam(testbed, { alice: "slow", bob: "slow" });
    await team.post("@alice and @bob, wait");
    await waitUntil("alice to work", async () => (await team.agent("alice").run()).status === "running");
    await team.post("@alice, later");
    await team.api("/inbox/bob/ack", "POST", { ids: ["msg-2"] }, 404);
    await team.api("/inbox/alice/ack", "POST", {}, 400);
    const { items } = await team.api("/inbox/alice/ack", "POST", { until: "msg-9" }, 200);
    expect(items.map(({ id, status }: { id: string; status: string }) => [id, status])).toEqual([
      ["msg-1", "acked"],
      ["msg-2", "acked"],
    ]);
    await team.api("/inbox/nobody", "GET", undefined, 404);
    await testbed.api(`${team.at}/agent/alice/cancel`, "POST", {});
    await testbed.api(`${team.at}/agent/bob/cancel`, "POST", {});
    await team.settle("alice", "bob");
    expect((await team.inbox("alice")).map(({ status }) => status)).toEqual(["acked", "acked"]);
  });

  test("a stopped agent gets its messages when it is started", async () => {
    const team = await openTeam(testbed, { alice: "parrot" });
    await team.post("@alice, first");
    await team.settle("alice");
    await testbed.api(`${team.at}/agent/alice/stop`, "POST");
    await team.post("@alice, second");
    await waitUntil("it to be put back", async () => (await team.inbox("alice"))[1]?.dueAt !== undefined);
    await testbed.api(`${team.at}/agent/alice/start`, "POST");
    await team.settle("alice");
    expect((await team.inbox("alice")).map(({ status }) => status)).toEqual(["acked", "acked"]);
  });

  test("an agent that was stopped before its first message gets it when it is started", async () => {
    const team = await openTeam(testbed, { alice: "parrot" });
    await testbed.api(`${team.at}/agent/alice/stop`, "POST");
    await team.post("@alice, first");
    await waitUntil("it to be put back", async () => (await team.inbox("alice"))[0]?.dueAt !== undefined);
    await testbed.api(`${team.at}/agent/alice/start`, "POST");
    await team.settle("alice");
  });

  test("models read their inbox and the channel, say what they do, and put messages off", async () => {
    const team = await openTeam(testbed, { alice: "reader" });
    await team.post("@alice, put off");
    await waitUntil("it to come again", async () => (await team.inbox("alice"))[0]?.attempts === 2);
    await team.api("/inbox/alice/ack", "POST", { ids: ["msg-1"] }, 200);
    await team.post("@alice, read");
    await team.settle("alice");
    const text = (await team.agent("alice").messages()).at(-1)?.content ?? "";
    expect(text).toContain('"status":"seen"');
    expect(text).toContain("@alice, put off");
    expect(await team.inbox("alice")).toMatchObject([{ status: "acked" }, { status: "acked" }]);
    const { members } = await team.api("/members");
    expect(members).toContainEqual(
      expect.objectContaining({ kind: "agent", name: "alice", note: "reading", task: "the news" }),
    );
  });

  test("messages survive a crash of the host, and each is handled once", async () => {
    const team = await openTeam(testbed, { alice: "parrot", bob: "parrot" });
    for (let number = 0; number < 5; number++) await team.post(`@alice @bob message ${number}`);
    await testbed.restartMain();
    await team.settle("alice", "bob");
    for (const name of ["alice", "bob"]) {
      const inputs = (await team.agent(name).messages())
        .filter(({ role }) => role === "user")
        .map(({ content }) => content)
        .join("\n");
      for (let number = 0; number < 5; number++) expect(inputs.split(`message ${number}`)).toHaveLength(2);
    }
  });
});

test("agents that only thank each other are stopped, and a person can wake them again", async () => {
  const team = await openTeam(testbed, { alice: "polite", bob: "polite" });
  await team.post("@alice, begin");
  const read = async () => (await team.read()).filter(({ fromKind }) => fromKind === "host");
  await waitUntil("the notice", async () => (await read()).length > 0);
  await team.settle("alice", "bob");
  expect((await read())[0]?.content).toContain("8 turns in a row");
  const messages = await team.read();
  expect(messages.length).toBeLessThan(8 * 2 + 4);
  const givenUp = [...(await team.inbox("alice", "given_up")), ...(await team.inbox("bob", "given_up"))];
  expect(givenUp[0]).toMatchObject({ error: "The agents make no progress." });
  await team.post("@alice, once more");
  await waitUntil("alice to work again", async () => (await team.read()).length > messages.length + 2);
  await team.settle("alice", "bob");
}, 60_000);

test("those who watch an agency see what happens in it", async () => {
  const team = await openTeam(testbed, { alice: "parrot" });
  const { host } = testbed;
  const socket = new WebSocket(`${host().url.replace("http", "ws")}${team.at}/ws`, {
    headers: { authorization: `Bearer ${host().token}` },
  });
  const frames: TeamFrame[] = [];
  socket.addEventListener("message", ({ data }) => frames.push(JSON.parse(String(data))));
  await waitUntil("the socket", () => frames.length > 0);
  expect(frames[0]).toMatchObject({ type: "sync", agents: [{ name: "alice", status: "idle" }] });
  await team.post("@alice, hello");
  const seen = (check: (frame: TeamFrame) => boolean) => () => frames.some(check);
  await waitUntil(
    "the message",
    seen((frame) => frame.type === "message" && frame.message.content === "@alice, hello"),
  );
  await waitUntil(
    "the item",
    seen((frame) => frame.type === "inbox" && frame.item.status === "acked"),
  );
  await waitUntil(
    "alice to be idle",
    seen((frame) => frame.type === "agent" && frame.agent.status === "idle" && frame.agent.tokens > 0),
  );
  socket.close();
});
