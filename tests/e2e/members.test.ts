import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type AgencySettings, defaultAgencySettings, type Member, type Scope, type TeamFrame } from "@thinkery/sdk";
import { type Client, createClient } from "@thinkery/sdk/client";
import { afterAll, beforeAll, expect, test } from "vitest";
import { WebSocket } from "ws";
import { openEditor } from "../kit/editor.ts";
import { type HostProcess, startHostProcess } from "../kit/host-process.ts";
import { findMain } from "../kit/processes.ts";
import { waitUntil } from "../kit/wait-until.ts";

// Bob shares his agencies with Ann: they talk to the same agents, edit the same files, and answer the same approvals.

const scripts = {
  worker: [
    {
      when: "write",
      steps: [{ call: { tool: "writeFile", input: { path: "w.txt", content: "w" } } }, { text: "{{ results.0 }}" }],
    },
    {
      when: "ask",
      steps: [{ call: { tool: "askUser", input: { prompt: "Which color?" } } }, { text: "{{ results.0 }}" }],
    },
    { steps: [{ text: "You said: {{ message }}" }] },
  ],
};

let host: HostProcess;
let bob: Client;
let ann: Client;
const tokens: Record<string, string> = {};

async function addUser(user: string, scopes: Scope[] = ["admin"]): Promise<Client> {
  const { token } = await host.client.call("createToken", { body: { name: "t", user, scopes } });
  tokens[user] = token;
  return createClient({ url: host.url, token });
}

beforeAll(async () => {
  host = await startHostProcess();
  await mkdir(join(host.home, "scripts"), { recursive: true });
  for (const [name, script] of Object.entries(scripts))
    await writeFile(join(host.home, "scripts", `${name}.yaml`), JSON.stringify(script));
  [bob, ann] = [await addUser("bob"), await addUser("ann")];
}, 60_000);

afterAll(() => host?.stop());

/** Creates an agency of Bob's with an agent that follows the script, and shares it with Ann. */
async function share(agency: string, scopes: Scope[] = ["chat"]): Promise<void> {
  await bob.call("createAgency", { body: { id: agency, name: `Bob's ${agency}` } });
  await bob.call("putBlueprint", {
    params: { agency },
    body: { name: "careful", model: "scripted:worker", config: { hitl: { tools: ["writeFile"] } } },
  });
  await bob.agents(agency).create({ name: "kim", blueprint: "careful" });
  await bob.members(agency).put("ann", scopes);
}

async function listMembers(client: Client, agency: string): Promise<Member[]> {
  const members: Member[] = [];
  for await (const member of client.members(agency).list()) members.push(member);
  return members;
}

async function connect(path: string, user: string) {
  const headers = { authorization: `Bearer ${tokens[user]}` };
  const socket = new WebSocket(`${host.url.replace("http", "ws")}${path}`, { headers });
  const frames: any[] = [];
  const opened = { socket, frames, code: undefined as number | undefined };
  socket.on("message", (data) => frames.push(JSON.parse(String(data))));
  socket.on("close", (code) => (opened.code = code));
  await new Promise((resolve, reject) => {
    socket.on("open", resolve);
    socket.on("error", reject);
  });
  return opened;
}

test("an agency has settings with defaults, variables that are replaced, and a name that its lists show", async () => {
  const { id: agency } = await bob.call("createAgency", { body: { id: "plans" } });
  const params = { agency };
  expect(await bob.call("getAgency", { params })).toMatchObject({
    id: "plans",
    name: "plans",
    owner: "bob",
    settings: defaultAgencySettings,
    vars: {},
    agents: 0,
  });
  await bob.members(agency).put("ann");
  await bob.agents(agency).create({ name: "kim" });
  const watching = await connect(`/agency/${agency}/ws`, "bob");
  await waitUntil("the sync", () => watching.frames.some((frame: TeamFrame) => frame.type === "sync"));
  const body = { name: "Plans of Bob", settings: { maxAttempts: 7 }, vars: { topic: "bees", depth: 2, quick: true } };
  const settings: AgencySettings = { ...defaultAgencySettings, maxAttempts: 7 };
  expect(await bob.call("updateAgency", { params, body })).toMatchObject({ ...body, settings, agents: 1 });
  await waitUntil("the change", () => watching.frames.some((frame: TeamFrame) => frame.type === "changed"));
  expect(watching.frames).toContainEqual({ type: "changed", what: "settings" });
  watching.socket.terminate();
  // Settings are merged, variables replaced.
  await bob.call("updateAgency", { params, body: { settings: { claimSeconds: 60 }, vars: { topic: "ants" } } });
  expect(await bob.call("getAgency", { params })).toMatchObject({
    name: "Plans of Bob",
    settings: { ...settings, claimSeconds: 60 },
    vars: { topic: "ants" },
  });
  for (const [client, id] of [
    [bob, "plans"],
    [ann, "plans@bob"],
  ] as const)
    expect((await client.call("listAgencies")).agencies.find((listed) => listed.id === id)?.name).toBe("Plans of Bob");
  for (const body of [
    { settings: { maxAttempts: 0 } },
    { settings: { speed: 1 } },
    { vars: { "a b": 1 } },
    { id: "x" },
  ])
    await expect(bob.call("updateAgency", { params, body: body as object })).rejects.toMatchObject({
      code: "bad_request",
    });
});

test("members are listed after their owner and before the agents, on pages of any size", async () => {
  await share("crew", ["read", "approve"]);
  await addUser("cleo");
  await bob.members("crew").put("cleo", ["admin"]);
  await bob.agents("crew").create({ name: "lee" });
  const expected = [
    { kind: "user", name: "bob", owner: true, scopes: ["read", "chat", "approve", "admin"] },
    { kind: "user", name: "ann", scopes: ["read", "approve"] },
    { kind: "user", name: "cleo", scopes: ["admin"] },
    { kind: "agent", name: "kim", status: "idle" },
    { kind: "agent", name: "lee", status: "idle", inbox: { pending: 0 } },
  ];
  expect(await listMembers(ann, "crew@bob")).toMatchObject(expected);
  for (const limit of [1, 2, 3, 4, 5, 6]) {
    const found: Member[] = [];
    for (let after: string | undefined, page = 0; page < 10; page++) {
      const query = { limit, ...(after === undefined ? {} : { after }) };
      const { members, next } = await bob.call("listMembers", { params: { agency: "crew" }, query });
      found.push(...members);
      after = next;
      if (next === undefined) break;
    }
    expect(found).toMatchObject(expected);
  }
  expect(await bob.members("crew").put("ann", ["chat"])).toMatchObject({ name: "ann", scopes: ["chat"] });
  await bob.members("crew").remove("cleo");
  expect((await listMembers(bob, "crew")).map(({ name }) => name)).toEqual(["bob", "ann", "kim", "lee"]);
});

test("only users of the host can be members, and not the owner", async () => {
  await share("strict");
  await addUser("Charlotte");
  const members = bob.members("strict");
  await expect(members.put("charlote")).rejects.toMatchObject({
    code: "not_found",
    message: "There is no user “charlote” on this host. Did you mean “Charlotte”?",
    details: { suggestion: "Charlotte" },
  });
  await expect(members.put("zzzzzz")).rejects.toMatchObject({ code: "not_found" });
  await expect(members.put("bob")).rejects.toMatchObject({ code: "conflict" });
  await expect(members.remove("bob")).rejects.toMatchObject({ code: "conflict" });
  await expect(members.remove("Charlotte")).rejects.toMatchObject({ code: "not_found" });
  expect(await members.put("owner")).toMatchObject({ name: "owner", scopes: ["chat"] });
  expect(await host.client.agent("kim@strict@bob").describe()).toMatchObject({ name: "kim", agency: "strict@bob" });
});

test("a shared agency has its owner's name in lists, and both names for its owner", async () => {
  await share("lists");
  await ann.call("createAgency", { body: { id: "lists" } });
  const listed = (await ann.call("listAgencies")).agencies;
  expect(listed.find(({ id }) => id === "lists@bob")).toMatchObject({ owner: "bob", scopes: ["chat"] });
  expect(listed.find(({ id }) => id === "lists")).toEqual(expect.not.objectContaining({ scopes: expect.anything() }));
  for (const limit of [1, 2, 3]) {
    const ids: string[] = [];
    for (let after: string | undefined, page = 0; page < 20; page++) {
      const query = { limit, ...(after === undefined ? {} : { after }) };
      const { agencies, next } = await ann.call("listAgencies", { query });
      ids.push(...agencies.map(({ id }) => id));
      after = next;
      if (next === undefined) break;
    }
    expect([limit, ids]).toEqual([limit, listed.map(({ id }) => id)]);
  }
  for (const agency of ["lists", "lists@bob"]) {
    expect(await bob.call("getAgency", { params: { agency } })).toMatchObject({ id: "lists", owner: "bob" });
    expect((await bob.call("listAgents", { params: { agency } })).agents).toMatchObject([{ agency: "lists" }]);
  }
  expect(await ann.call("getAgency", { params: { agency: "lists@bob" } })).toMatchObject({
    id: "lists@bob",
    scopes: ["read", "chat"],
  });
  expect((await ann.call("listAgents", { params: { agency: "lists" } })).agents).toEqual([]);
  // The host owner's default agency has a name for others, too.
  await host.client.members("global").put("ann", ["read"]);
  expect((await ann.call("listAgencies")).agencies.map(({ id }) => id)).toContain("global@owner");
  expect(await ann.call("getAgency", { params: { agency: "global@owner" } })).toMatchObject({ owner: "owner" });
  await host.client.members("global").remove("ann");
});

test("two users talk to one agent over sockets, and it knows who said what", async () => {
  await share("talk");
  const [hers, his] = [
    await connect("/agency/talk@bob/agent/kim/ws", "ann"),
    await connect("/agency/talk/agent/kim/ws", "bob"),
  ];
  hers.socket.send(JSON.stringify({ type: "chat", id: "from-ann", content: "Hello from Ann" }));
  const hasReply = (frames: any[], text: string) => frames.some((frame) => JSON.stringify(frame).includes(text));
  for (const { frames } of [hers, his])
    await waitUntil("the reply to Ann", () => hasReply(frames, "You said: Hello from Ann"));
  his.socket.send(JSON.stringify({ type: "chat", id: "from-bob", content: "Hello from Bob" }));
  for (const { frames } of [hers, his])
    await waitUntil("the reply to Bob", () => hasReply(frames, "You said: Hello from Bob"));
  const { events } = await bob.call("listEvents", { params: { agency: "talk", agent: "kim" }, query: { limit: 500 } });
  const senders = events.flatMap((event) => (event.type === "request.accepted" ? [event.data.from.user] : []));
  expect(senders).toEqual(["ann", "bob"]);
  for (const { socket } of [hers, his]) socket.terminate();
});

test("two users edit the same files live, and versions name each; who may only read changes nothing", async () => {
  await share("write");
  const editors = [
    openEditor({ url: host.url, token: tokens.ann ?? "", at: "/agency/write@bob/agent/kim" }),
    openEditor({ url: host.url, token: tokens.bob ?? "", at: "/agency/write/agent/kim" }),
  ] as const;
  const [hers, his] = editors;
  const params = { agency: "write@bob", agent: "kim" };
  await ann.call("editFiles", { params, body: { edits: [{ write: "a.md", content: "one\n" }] } });
  for (const editor of editors) await editor.waitForSync();
  await waitUntil("Bob to see her file", () => his.read("a.md") === "one\n");
  his.text("a.md").insert(4, "two\n");
  await waitUntil("Ann to see his line", () => hers.read("a.md") === "one\ntwo\n");
  hers.text("a.md").insert(8, "three\n");
  await waitUntil("Bob to see her line", () => his.read("a.md") === "one\ntwo\nthree\n");
  const versions = await waitUntil("the versions", async () => {
    const { versions } = await bob.call("listVersions", { params: { agency: "write", agent: "kim" } });
    const users = new Set(versions.map(({ origin }) => origin.user));
    return users.has("ann") && users.has("bob") ? versions : undefined;
  });
  expect(versions.at(-1)?.origin).toMatchObject({ kind: "user", user: "ann" });

  await bob.members("write").put("ann", ["read"]);
  await waitUntil("her editor to be closed", () => hers.closed.some(({ code }) => code === 4403));
  const reading = openEditor({ url: host.url, token: tokens.ann ?? "", at: "/agency/write@bob/agent/kim" });
  await reading.waitForSync();
  reading.text("a.md").insert(0, "never ");
  his.text("a.md").insert(0, "first ");
  await waitUntil("his line to be stored", async () => (await readFile("write")).startsWith("first "));
  expect(await readFile("write")).not.toContain("never");
  for (const editor of [...editors, reading]) editor.stop();
});

async function readFile(agency: string): Promise<string> {
  const headers = { authorization: `Bearer ${tokens.bob}` };
  return (await fetch(`${host.url}/agency/${agency}/agent/kim/files/a.md`, { headers })).text();
}

test("a member with approve sees what the agents ask and answers it, and another does not", async () => {
  await share("ask", ["chat", "approve"]);
  const cara = await addUser("cara");
  await bob.members("ask").put("cara", ["chat"]);
  const ask = async (client: Client, target: string) => {
    const { runId } = await client.agent(target).send("write");
    return waitUntil("the approval", async () => {
      const { approvals } = await bob.call("listAgencyApprovals", { params: { agency: "ask" } });
      return approvals.find(({ turn }) => turn === runId);
    });
  };
  // Ann's own agents ask, too: her list has both, oldest first.
  await ann.call("putBlueprint", {
    params: { agency: "ann" },
    body: { name: "careful", model: "scripted:worker", config: { hitl: { tools: ["writeFile"] } } },
  });
  await ann.agents().create({ name: "own", blueprint: "careful" });
  await ann.agent("own").send("write");
  await waitUntil("her own approval", async () => (await ann.call("listApprovals")).approvals.length === 1);

  const first = await ask(cara, "kim@ask@bob");
  expect(first.agent).toBe("ask@bob~kim");
  const listed = await ann.call("listApprovals");
  expect(listed.approvals.map(({ agent }) => agent)).toEqual(["ann@ann~own", "ask@bob~kim"]);
  const page = await ann.call("listApprovals", { query: { limit: 1 } });
  expect(page.approvals.map(({ agent }) => agent)).toEqual(["ann@ann~own"]);
  const rest = await ann.call("listApprovals", { query: { limit: 1, after: page.next } });
  expect(rest.approvals.map(({ agent }) => agent)).toEqual(["ask@bob~kim"]);
  const params = { agency: "ask@bob" };
  expect((await ann.call("listAgencyApprovals", { params })).approvals.map(({ id }) => id)).toEqual([first.id]);
  expect((await cara.call("listApprovals")).approvals).toEqual([]);
  const body = { approved: true };
  await expect(cara.call("approve", { params: { ...params, agent: "kim" }, body })).rejects.toMatchObject({
    code: "forbidden",
  });
  await expect(cara.call("answerApproval", { params: { id: first.id }, body })).rejects.toMatchObject({
    code: "not_found",
  });
  const answered = await ann.call("approve", { params: { ...params, agent: "kim" }, body });
  expect(answered).toMatchObject({ id: first.id, status: "approved", answeredBy: "ann" });

  const second = await ask(bob, "kim@ask");
  expect(await ann.call("answerApproval", { params: { id: second.id }, body: { approved: false } })).toMatchObject({
    status: "denied",
    answeredBy: "ann",
  });
  await bob.members("ask").put("ann", ["chat"]);
  const third = await ask(bob, "kim@ask");
  expect((await ann.call("listApprovals")).approvals.map(({ agent }) => agent)).toEqual(["ann@ann~own"]);
  await expect(ann.call("answerApproval", { params: { id: third.id }, body })).rejects.toMatchObject({
    code: "not_found",
  });
});

test("a member with chat sees the questions of the agents and answers them, and one who only approves does not", async () => {
  await share("quiz", ["chat"]);
  const drew = await addUser("drew");
  await bob.members("quiz").put("drew", ["approve"]);
  const turn = await bob.agent("kim@quiz").send("ask");
  const [question] = await waitUntil("the question", async () => {
    const { questions } = await ann.call("listQuestions");
    return questions.length > 0 && questions;
  });
  expect(question).toMatchObject({ agent: "quiz@bob~kim", prompt: "Which color?" });
  expect((await drew.call("listQuestions")).questions).toEqual([]);
  const answer = (client: Client) =>
    client.call("answerQuestion", { params: { agency: "quiz@bob", agent: "kim" }, body: { value: "Blue" } });
  await expect(answer(drew)).rejects.toMatchObject({ code: "forbidden" });
  await answer(ann);
  expect((await turn.outcome()).content).toContain("Blue");
  await waitUntil("the question to be gone", async () => (await ann.call("listQuestions")).questions.length === 0);

  // The command line knows the agent by the name that Ann has for it.
  const asked = await host.runCli(["run", "kim@quiz@bob", "ask"], { env: { THINKERY_TOKEN: tokens.ann ?? "" } });
  expect([asked.code, asked.stderr]).toEqual([4, expect.stringContaining("thinkery answer kim@quiz@bob")]);
});

test("runs name agents of shared agencies as targets, and end when the membership does", async () => {
  await share("runs");
  const serve = await ann.call("serve", { body: { agent: "kim@runs@bob", message: "Hi" } });
  expect(serve.content).toBe("You said: Hi");
  await expect(ann.call("serve", { body: { agent: "kym@runs@bob", message: "Hi" } })).rejects.toMatchObject({
    code: "not_found",
    details: { suggestion: "kim" },
  });
  await expect(ann.call("serve", { body: { agent: "kim@run@bob", message: "Hi" } })).rejects.toMatchObject({
    code: "not_found",
    details: { suggestion: "kim@runs@bob" },
  });
  const stdout = (
    await host.runCli(["run", "kim@runs@bob", "From the CLI"], { env: { THINKERY_TOKEN: tokens.ann ?? "" } })
  ).stdout;
  expect(stdout).toContain("You said: From the CLI");

  // It waits for an approval, so the stream stays open.
  const response = await fetch(`${host.url}/run`, {
    method: "POST",
    headers: { authorization: `Bearer ${tokens.ann}`, "content-type": "application/json" },
    body: JSON.stringify({ agent: "kim@runs@bob", message: "write" }),
  });
  expect(response.status).toBe(200);
  let text: string | undefined;
  void response.text().then(
    (read) => (text = read),
    () => (text = "cut off"),
  );
  await waitUntil("the turn to wait", async () => {
    const { run } = await bob.call("getState", { params: { agency: "runs", agent: "kim" } });
    return run.status === "paused";
  });
  expect(text).toBeUndefined();
  await bob.members("runs").remove("ann");
  await waitUntil("the stream to end", () => text !== undefined);
  expect(text).not.toContain("event: done");
});

test("what a member creates belongs to the owner, whose limits apply", async () => {
  const dan = await addUser("dan");
  await host.client.call("updateUser", { params: { user: "dan" }, body: { limits: { agents: 1 } } });
  await dan.call("createAgency", { body: { id: "small" } });
  await dan.members("small").put("ann", ["chat"]);
  const created = await ann.agents("small@dan").create({ name: "one" });
  expect(await created.describe()).toMatchObject({ agency: "small@dan", owner: "dan" });
  await expect(ann.agents("small@dan").create({ name: "two" })).rejects.toMatchObject({ code: "conflict" });
  expect((await dan.call("getUser")).agents).toBe(1);
  const schedule = await ann.agent("one@small@dan").schedules().create({ when: "@yearly", input: "Happy new year" });
  expect(schedule).toMatchObject({ createdBy: "ann" });
  await (await ann.agent("one@small@dan").send("Spend")).outcome();
  await waitUntil("the usage", async () =>
    (await dan.call("getUserUsage")).byAgency.some(({ agency }) => agency === "small"),
  );
  expect((await ann.call("getUserUsage")).byAgency.map(({ agency }) => agency)).not.toContain("small");
});

test("members, settings and memberships outlive a crash of the host", async () => {
  await share("durable", ["chat"]);
  await bob.call("updateAgency", { params: { agency: "durable" }, body: { vars: { a: 1 } } });
  process.kill(findMain(host.home)?.pid ?? 0, "SIGKILL");
  const details = await waitUntil("the host to be back", () =>
    ann.call("getAgency", { params: { agency: "durable@bob" } }).catch(() => undefined),
  );
  expect(details).toMatchObject({ vars: { a: 1 }, scopes: ["read", "chat"] });
  expect((await listMembers(bob, "durable")).map(({ name }) => name)).toEqual(["bob", "ann", "kim"]);
});

test("deleting an agency, a member or an owner leaves nothing of it in the lists of others", async () => {
  const [eve, fay] = [await addUser("eve"), await addUser("fay")];
  for (const agency of ["first", "second"]) {
    await eve.call("createAgency", { body: { id: agency } });
    await eve.members(agency).put("fay", ["chat"]);
  }
  const listShared = async () => (await fay.call("listAgencies")).agencies.map(({ id }) => id);
  expect(await listShared()).toEqual(["fay", "first@eve", "second@eve"]);
  const watching = await connect("/agency/first@eve/ws", "fay");
  await eve.call("deleteAgency", { params: { agency: "first" } });
  await waitUntil("her socket to close", () => watching.code);
  expect(await listShared()).toEqual(["fay", "second@eve"]);
  // A new agency of that name is not shared.
  await eve.call("createAgency", { body: { id: "first" } });
  await expect(fay.call("getAgency", { params: { agency: "first@eve" } })).rejects.toMatchObject({ code: "not_found" });

  await host.client.call("removeUser", { params: { user: "fay" } });
  expect((await listMembers(eve, "second")).map(({ name }) => name)).toEqual(["eve"]);
  // Somebody else by that name is no member.
  const other = await addUser("fay");
  await expect(other.call("getAgency", { params: { agency: "second@eve" } })).rejects.toMatchObject({
    code: "not_found",
  });
  expect((await other.call("listAgencies")).agencies.map(({ id }) => id)).toEqual(["fay"]);

  await eve.members("second").put("fay", ["chat"]);
  await host.client.call("removeUser", { params: { user: "eve" } });
  expect((await other.call("listAgencies")).agencies.map(({ id }) => id)).toEqual(["fay"]);
  await expect(other.call("getAgency", { params: { agency: "second@eve" } })).rejects.toMatchObject({
    code: "not_found",
  });
});
