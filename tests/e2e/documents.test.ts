import { createClient, watchAgency } from "@thinkery/sdk/client";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { WebSocket } from "ws";
import * as Y from "yjs";
import { type Editor, openEditor } from "../kit/editor.ts";
import { waitUntil } from "../kit/wait-until.ts";
import { send, upgradeHeaders } from "../kit/wire.ts";
import { openTestbed, type Testbed } from "../kit/worker/testbed.ts";

// The documents of an agency: over HTTP, through the tools of agents, and edited live by several at once.

const at = "/agency/global";
const long = "0123456789abcde\n".repeat(100_000);

const call = (tool: string, input: object) => ({ call: { tool, input } });

let testbed: Testbed;
const editors: Editor[] = [];

beforeAll(async () => {
  testbed = await openTestbed({
    scripts: {
      writer: {
        exchanges: [
          {
            when: "Write the plan.",
            steps: [
              call("team_doc_create", { name: "plan.md", content: "# Plan\n" }),
              call("team_doc_append", { name: "plan.md", content: "- first\n" }),
              call("team_doc_read", { name: "plan.md" }),
              call("team_doc_list", {}),
              { text: "{{ results.team_doc_read }}|{{ results.team_doc_list }}" },
            ],
          },
          {
            when: "Create it again.",
            steps: [call("team_doc_create", { name: "plan.md", content: "mine" }), { text: "{{ results.0 }}" }],
          },
          {
            when: "Misspell it.",
            steps: [
              call("team_doc_read", { name: "paln.md" }),
              call("team_doc_append", { name: "plan", content: "x" }),
              { text: "{{ results.0 }}|{{ results.1 }}" },
            ],
          },
          {
            when: "Replace it.",
            steps: [call("team_doc_write", { name: "replaced.md", content: "by an agent\n" }), { text: "Done." }],
          },
          {
            when: "Append it.",
            steps: [
              ...["1", "2", "3", "4", "5"].map((line) =>
                call("team_doc_append", { name: "shared.md", content: `agent ${line}\n` }),
              ),
              { text: "Done." },
            ],
          },
          {
            when: "Append to the long one.",
            steps: [
              call("team_doc_append", { name: "long.txt", content: "the end\n" }),
              call("team_doc_read", { name: "long.txt", offset: 100_000 }),
              call("team_doc_read", { name: "long.txt" }),
              { text: "{{ results.0 }}|{{ results.1 }}|{{ results.2 }}" },
            ],
          },
          {
            when: "Run code.",
            steps: [
              call("executeCode", {
                code: `for (const line of ["a", "b"]) await tools.team_doc_append({ name: "code.md", content: line });`,
              }),
              { text: "{{ results.0 }}" },
            ],
          },
          {
            when: "Read the picture.",
            steps: [call("team_doc_read", { name: "dot.bin" }), { text: "{{ results.0 }}" }],
          },
          {
            when: "Leave.",
            steps: [call("team_doc_write", { name: "../secret", content: "x" }), { text: "{{ results.0 }}" }],
          },
        ],
      },
    },
    config: { maxFailuresPerMinute: 1000, sandboxSlots: 1 },
  });
});

afterEach(() => {
  for (const editor of editors.splice(0)) editor.stop();
});

afterAll(() => testbed?.stop());

const documents = (agency = "global") => testbed.host().client.documents(agency);
const readText = async (path: string) => (await documents().read(path)).text();

async function say(message: string) {
  const agent = await testbed.newAgent({ model: "scripted:writer" });
  const { runId } = await agent.invoke({ message });
  const end = await agent.waitForEnd(runId);
  expect(end.type).toBe("agent.completed");
  const last = (await agent.messages()).at(-1);
  return { agent, runId, text: String(last?.content) };
}

async function connectEditor(options: { token?: string; agency?: string } = {}): Promise<Editor> {
  const { url, token } = testbed.host();
  const editor = openEditor({ url, token, at: `/agency/${options.agency ?? "global"}`, ...options });
  editors.push(editor);
  await editor.waitForSync();
  return editor;
}

test("documents are written, read, listed and deleted with the conditions and headers of files", async () => {
  const { api } = testbed;
  const created = await documents().write("notes/day one", "hello\n", { isNew: true });
  expect(created).toMatchObject({ path: "notes/day one", kind: "text", size: 6 });
  await expect(documents().write("notes/day one", "again", { isNew: true })).rejects.toMatchObject({
    code: "precondition_failed",
  });
  await documents().write("notes/day one", "hello again\n", { ifMatch: created.hash });
  await expect(documents().write("notes/day one", "stale", { ifMatch: created.hash })).rejects.toMatchObject({
    code: "precondition_failed",
  });
  expect((await documents().read("notes/day one", { version: created.version })).text()).toBe("hello\n");
  const { url, token } = testbed.host();
  const get = (headers: Record<string, string> = {}) =>
    fetch(`${url}${at}/documents/notes/day%20one`, { headers: { authorization: `Bearer ${token}`, ...headers } });
  const response = await get({ range: "bytes=6-10" });
  expect([response.status, await response.text()]).toEqual([206, "again"]);
  expect(response.headers.get("x-content-type-options")).toBe("nosniff");
  expect(response.headers.get("content-security-policy")).toContain("sandbox");
  expect((await get({ "if-none-match": response.headers.get("etag") ?? "" })).status).toBe(304);
  expect((await documents().list({ under: "notes" })).files.map(({ path }) => path)).toEqual(["notes/day one"]);
  await documents().edit([
    { move: "notes/day one", to: "notes/first.md" },
    { write: "page.html", content: "<script>" },
  ]);
  const page = await fetch(`${url}${at}/documents/page.html`, { headers: { authorization: `Bearer ${token}` } });
  expect(page.headers.get("content-disposition")).toContain("attachment");
  await page.body?.cancel();
  for (const [destination, status] of [
    ["script", 403],
    ["iframe", 403],
    ["document", 200],
  ] as const) {
    const path = `${at}/documents/page.html`;
    const { ticket } = (await api("/tickets", "POST", { path })).body;
    const opened = await fetch(`${url}${path}?ticket=${ticket}`, { headers: { "sec-fetch-dest": destination } });
    expect([destination, opened.status]).toEqual([destination, status]);
    await opened.body?.cancel();
  }
  expect((await api(`${at}/documents/notes`)).body.error.message).toBe(
    "“notes” is a folder. List it with `?under=notes`.",
  );
  await documents().delete("notes", { recursive: true });
  await documents().delete("page.html");
  expect((await api(`${at}/documents/notes/first.md`)).body.error).toEqual({
    code: "not_found",
    message: "Document “notes/first.md” not found.",
  });
  expect((await documents().versions({ path: "notes" })).versions.map(({ origin }) => origin)).toEqual(
    Array.from({ length: 4 }, () => ({ kind: "user", user: "owner" })),
  );
});

test("each agency has its own documents, and none are an agent's files", async () => {
  await testbed.api("/agencies", "POST", { id: "den" });
  await documents("den").write("only.md", "den");
  await expect(documents().read("only.md")).rejects.toMatchObject({ code: "not_found" });
  const agent = await testbed.newAgent();
  expect((await testbed.api(`${agent.at}/files`)).body.files).toEqual([]);
  expect((await documents("den").list()).files).toHaveLength(1);
});

test("documents have no branches", async () => {
  const { port, token } = testbed.host();
  const headers = { authorization: `Bearer ${token}`, ...upgradeHeaders };
  expect((await send({ port, path: `${at}/yjs?branch=try`, headers })).status).toBe(400);
  await documents().write("branch.md", "x");
  for (const query of ["documents?branch=try", "documents/branch.md?branch=try", "versions?branch=try"])
    expect([query, (await testbed.api(`${at}/${query}`)).status]).toEqual([query, 400]);
  expect((await testbed.api(`${at}/revert`, "POST", { version: 1, branch: "try" })).status).toBe(400);
});

test("a user neither reads nor writes documents of another one, and a token that may read does not write", async () => {
  await documents().write("private.md", "secret");
  const { client, url } = testbed.host();
  const open = async (user: string, scope: "read" | "chat") => {
    const { token } = await client.call("createToken", { body: { name: "t", user, scopes: [scope] } });
    return createClient({ url, token }).documents("global");
  };
  const mallory = await open("mallory", "chat");
  await expect(mallory.read("private.md")).rejects.toMatchObject({ code: "not_found" });
  await expect(mallory.write("private.md", "mine")).rejects.toMatchObject({ code: "not_found" });
  const reader = await open("owner", "read");
  expect((await reader.read("private.md")).text()).toBe("secret");
  await expect(reader.write("private.md", "mine")).rejects.toMatchObject({ code: "forbidden" });
  await expect(reader.revert({ version: 1 })).rejects.toMatchObject({ code: "forbidden" });
});

test("a member of somebody's agency reads and writes its documents with the scopes they were given", async () => {
  const { client, url } = testbed.host();
  await client.call("createAgency", { body: { id: "joint" } });
  await documents("joint").write("plan.md", "start\n");
  const { token } = await client.call("createToken", { body: { name: "t", user: "nina", scopes: ["chat"] } });
  const nina = createClient({ url, token }).documents("joint@owner");
  await expect(nina.read("plan.md")).rejects.toMatchObject({ code: "not_found" });
  const params = { agency: "joint", user: "nina" };
  await client.call("putMember", { params, body: { scopes: ["read"] } });
  expect((await nina.read("plan.md")).text()).toBe("start\n");
  await expect(nina.write("plan.md", "mine")).rejects.toMatchObject({ code: "forbidden" });
  const reading = await connectEditor({ token, agency: "joint@owner" });
  reading.text("plan.md").insert(0, "no ");
  await client.call("putMember", { params, body: { scopes: ["chat"] } });
  await nina.write("nina.md", "mine");
  const [ada, editing] = await Promise.all([
    connectEditor({ agency: "joint" }),
    connectEditor({ token, agency: "joint@owner" }),
  ]);
  editing.text("plan.md").insert(6, "more\n");
  await waitUntil("the owner to see it", () => ada.read("plan.md") === "start\nmore\n");
  const { versions } = await documents("joint").versions({ limit: 2 });
  expect(versions.map(({ origin }) => origin)).toEqual(
    Array.from({ length: 2 }, () => ({ kind: "user", user: "nina" })),
  );
});

test("agents create, append to, read and list documents, and versions name the agent and its calls", async () => {
  const { agent, runId, text } = await say("Write the plan.");
  expect(text).toContain("# Plan\n- first\n|");
  expect(text).toContain("plan.md (15 bytes)");
  expect(await readText("plan.md")).toBe("# Plan\n- first\n");
  const { versions } = await documents().versions({ turn: runId });
  const calls = (await agent.log()).flatMap(({ type, data }) =>
    type === "tool.started" ? [(data as { callId?: string }).callId] : [],
  );
  expect(versions.map(({ origin }) => origin)).toEqual([
    { kind: "agent", agent: `global~${agent.name}`, turn: runId, toolCall: calls[1], tool: "team_doc_append" },
    { kind: "agent", agent: `global~${agent.name}`, turn: runId, toolCall: calls[0], tool: "team_doc_create" },
  ]);
  const { diffs } = await documents().version(versions[0]?.id ?? 0);
  expect(diffs).toMatchObject([{ path: "plan.md", added: 1, removed: 0 }]);
  const logged = JSON.stringify((await agent.log()).filter(({ type }) => type === "tool.started"));
  expect(logged).toContain("8 characters");
  expect(logged).not.toContain("- first");

  expect((await say("Create it again.")).text).toContain("There is already a document “plan.md”.");
  expect((await say("Misspell it.")).text).toBe(
    "There is no document “paln.md”. Did you mean plan.md?|There is no document “plan”. Did you mean plan.md?",
  );
  expect(await readText("plan.md")).toBe("# Plan\n- first\n");
});

test("what a turn changed is reverted, and later changes by others are kept", async () => {
  await documents().write("replaced.md", "by a person\n");
  const { runId } = await say("Replace it.");
  expect(await readText("replaced.md")).toBe("by an agent\n");
  await documents().write("other.md", "later");
  const { version } = await documents().revert({ turn: runId });
  expect(version?.origin).toEqual({ kind: "user", user: "owner" });
  expect([await readText("replaced.md"), await readText("other.md")]).toEqual(["by a person\n", "later"]);
  const { versions } = await documents().versions({ path: "replaced.md", limit: 2 });
  await documents().revert({ version: versions[0]?.id });
  expect(await readText("replaced.md")).toBe("by an agent\n");
});

test("two people type in a document while an agent appends to it, and everything is kept", async () => {
  await documents().write("shared.md", "start\n");
  const [ada, ben] = await Promise.all([connectEditor(), connectEditor()]);
  const turn = say("Append it.");
  for (let key = 0; key < 40; key++) {
    ada.text("shared.md").insert(key, "a");
    ben.text("shared.md").insert(ben.text("shared.md").toString().indexOf("start"), "b");
    await new Promise((resolve) => setTimeout(resolve, 3));
  }
  await turn;
  await waitUntil("all to have the same text", async () => {
    const text = await readText("shared.md");
    return (
      [ada, ben].every((editor) => editor.read("shared.md") === text) && text.match(/[ab]/g)?.length === 80 + 1 + 5
    );
  });
  const text = await readText("shared.md");
  for (const line of ["1", "2", "3", "4", "5"]) expect(text.split(`agent ${line}\n`)).toHaveLength(2);
  const { versions } = await documents().versions({ path: "shared.md" });
  expect(versions.filter(({ origin }) => origin.kind === "agent")).toHaveLength(5);
  expect(versions.some(({ origin }) => origin.user === "owner")).toBe(true);
});

test("after main is killed, documents are there, and editors go on where they were", async () => {
  await documents().write("crash.md", "");
  const [ada, ben] = await Promise.all([connectEditor(), connectEditor()]);
  ada.text("crash.md").insert(0, "before ");
  await waitUntil("Ben to see it", () => ben.read("crash.md") === "before ");
  await testbed.killMain();
  ben.text("crash.md").insert(7, "between ");
  const hasAll = (editor: Editor) => editor.provider.synced && editor.read("crash.md") === "before between ";
  await waitUntil("both to have all edits", () => [ada, ben].every(hasAll), { timeoutMs: 30_000 });
  expect(await readText("crash.md")).toBe("before between ");
});

test("an editor that may only read sees everything and changes nothing, and others are rejected", async () => {
  await documents().write("ro.md", "start\n");
  const { client, url } = testbed.host();
  const { token } = await client.call("createToken", { body: { name: "reader", scopes: ["read"] } });
  const [ada, reader] = await Promise.all([connectEditor(), connectEditor({ token })]);
  reader.text("ro.md").insert(0, "no ");
  ada.text("ro.md").insert(6, "more\n");
  await waitUntil("the reader to see it", () => reader.read("ro.md") === "no start\nmore\n");
  expect(await readText("ro.md")).toBe("start\nmore\n");
  const carol = await client.call("createToken", { body: { name: "t", user: "carol", scopes: ["chat"] } });
  const rejected = openEditor({ url, token: carol.token, at });
  editors.push(rejected);
  await waitUntil("Carol to be rejected", () => rejected.closed.length > 0);
  expect([rejected.closed[0]?.code, rejected.readAll()]).toEqual([4403, {}]);
});

test("an editor is disconnected when its token is revoked", async () => {
  await documents().write("revoked.md", "start\n");
  const { client } = testbed.host();
  const { token, id } = await client.call("createToken", { body: { name: "guest", scopes: ["chat"] } });
  const guest = await connectEditor({ token });
  const lost = new Promise((resolve) => guest.provider.once("connection-close", resolve));
  await client.call("revokeToken", { params: { id } });
  await lost;
});

test("those who watch an agency hear that documents changed, by whatever way", async () => {
  const { url, token } = testbed.host();
  const frames: object[] = [];
  const stop = watchAgency({
    url: `${url.replace("http", "ws")}${at}/ws`,
    token,
    onFrame: (frame) => frames.push(frame),
    connect: (address, headers) => new WebSocket(address, { headers }) as unknown as globalThis.WebSocket,
  });
  const isChanged = () => frames.some((frame) => JSON.stringify(frame) === '{"type":"changed","what":"documents"}');
  await waitUntil("the first frame", () => frames.length > 0);
  for (const change of [
    () => documents().write("watched.md", "one"),
    () => documents().delete("watched.md"),
    async () => (await connectEditor()).doc.getMap<Y.Text>("files").set("watched.md", new Y.Text("live")),
  ]) {
    frames.length = 0;
    await change();
    await waitUntil("the frame", isChanged);
  }
  stop();
});

test("a document too long for live editing is appended to and read by pages", async () => {
  await documents().write("long.txt", long);
  const { text } = await say("Append to the long one.");
  expect(text).toMatch(/^Appended to long\.txt \(version \d+\)\.\|/);
  expect(text).toContain("|0123456789abcde\nthe end\n[lines 100000–100001 of 100001]|");
  expect(text).toMatch(/\[lines 1–3000 of 100001; continue with offset 3001\]$/);
  expect(await readText("long.txt")).toBe(`${long}the end\n`);
});

test("code appends several times in one call, and each has its effect", async () => {
  await documents().write("code.md", "");
  const { agent, runId } = await say("Run code.");
  expect(await readText("code.md")).toBe("ab");
  const started = (await agent.log()).find(({ type }) => type === "tool.started");
  const { versions } = await documents().versions({ turn: runId });
  expect(versions.map(({ origin }) => [origin.tool, origin.toolCall])).toEqual(
    Array.from({ length: 2 }, () => ["team_doc_append", (started?.data as { callId?: string } | undefined)?.callId]),
  );
});

test("a tool says what it cannot read or write", async () => {
  await documents().write("dot.bin", new Uint8Array([0, 1, 2]));
  expect((await say("Read the picture.")).text).toBe("“dot.bin” is not text: application/octet-stream, 3 bytes.");
  expect((await say("Leave.")).text).toContain("Invalid path “../secret”");
});
