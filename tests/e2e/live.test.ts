import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { WebSocket } from "ws";
import * as Y from "yjs";
import { type Editor, openEditor } from "../kit/editor.ts";
import { waitUntil } from "../kit/wait-until.ts";
import { openTestbed, type Testbed, type TestAgent } from "../kit/worker/testbed.ts";

// Collaborative editing over Yjs: editors, agents and the API work on the same files.

let testbed: Testbed;
let agent: TestAgent;
let at: string;
let readOnly: string;
const editors: Editor[] = [];

beforeAll(async () => {
  testbed = await openTestbed({
    scripts: {
      writer: {
        exchanges: [
          {
            when: "Edit it.",
            steps: [
              { call: { tool: "readFile", input: { path: "shared.md" } } },
              {
                call: {
                  tool: "editFile",
                  input: { path: "shared.md", oldString: "second line", newString: "SECOND LINE" },
                },
              },
              { text: "Done." },
            ],
          },
        ],
      },
    },
    config: { maxFailuresPerMinute: 1000, sandboxSlots: 0 },
  });
  agent = await testbed.newAgent({ model: "scripted:writer" });
  at = `/agency/global/agent/${agent.name}`;
  readOnly = (await testbed.api("/tokens", "POST", { name: "reader", scopes: ["read"] })).body.token;
});

afterEach(() => {
  for (const editor of editors.splice(0)) editor.stop();
});

afterAll(() => testbed?.stop());

async function connectEditor(options: { branch?: string; token?: string; doc?: Y.Doc } = {}): Promise<Editor> {
  const { url, token } = testbed.host();
  const editor = openEditor({ url, token, at, ...options });
  editors.push(editor);
  await editor.waitForSync();
  return editor;
}

const buildFilePath = (path: string, query = "") => `${at}/files/${path}${query}`;
const readFile = async (path: string, query = "") => {
  const { status, body } = await testbed.api(buildFilePath(path, query));
  return status === 200 ? body : undefined;
};

async function writeFile(path: string, content: string | Uint8Array, query = ""): Promise<void> {
  const { url, token } = testbed.host();
  const response = await fetch(url + buildFilePath(path, query), {
    method: "PUT",
    headers: { authorization: `Bearer ${token}` },
    body: content as BodyInit,
  });
  if (!response.ok) throw new Error(`${response.status}: ${await response.text()}`);
  await response.body?.cancel();
}

test("edits reach the other editors and the files, and API writes reach all editors", async () => {
  await writeFile("notes/a.md", "one\n");
  const [ada, ben] = await Promise.all([connectEditor(), connectEditor()]);
  expect(ada.read("notes/a.md")).toBe("one\n");
  ada.text("notes/a.md").insert(4, "two\n");
  await waitUntil("Ben to see it", () => ben.read("notes/a.md") === "one\ntwo\n");
  expect(await readFile("notes/a.md")).toBe("one\ntwo\n");
  ben.doc.getMap<Y.Text>("files").set("notes/b.md", new Y.Text("new"));
  await waitUntil("Ada to see the new file", () => ada.read("notes/b.md") === "new");
  await writeFile("notes/a.md", "one\n2\n");
  await writeFile("logo.png", new Uint8Array([0x89, 0x50, 0, 1]));
  await waitUntil("both to see the written files", () =>
    [ada, ben].every(
      (editor) => editor.read("notes/a.md") === "one\n2\n" && editor.doc.getMap("binaries").has("logo.png"),
    ),
  );
  await testbed.api(buildFilePath("notes/b.md"), "DELETE");
  await waitUntil("both to see the deletion", () =>
    [ada, ben].every((editor) => editor.read("notes/b.md") === undefined),
  );
  const { body } = await testbed.api(`${at}/versions?path=notes/b.md`);
  expect(body.versions.map(({ origin }: any) => origin)).toEqual([
    { kind: "user", user: "owner" },
    { kind: "user", user: "owner" },
  ]);
});

test("an agent edits a file while a user types in it, and both edits are kept", async () => {
  await writeFile("shared.md", "first line\nsecond line\nthird line\n");
  const ada = await connectEditor();
  const text = ada.text("shared.md");
  const run = agent.say("Edit it.");
  for (let key = 0; key < 40; key += 1) {
    text.insert(key, "x");
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
  expect((await run).type).toBe("agent.completed");
  const expected = `${"x".repeat(40)}first line\nSECOND LINE\nthird line\n`;
  await waitUntil("both edits to be in the document", () => ada.read("shared.md") === expected);
  await waitUntil("both edits to be in the file", async () => (await readFile("shared.md")) === expected);
  const { body } = await testbed.api(`${at}/versions?path=shared.md`);
  const authors = body.versions.map(({ origin }: any) => origin.tool ?? origin.user);
  expect(authors).toContain("editFile");
  // Typing creates a few versions, not one per key.
  expect(authors.length).toBeLessThan(8);
});

test("presence reaches the other editors and ends on disconnect", async () => {
  const [ada, ben] = await Promise.all([connectEditor(), connectEditor()]);
  ada.provider.awareness.setLocalStateField("user", { name: "Ada" });
  const readAdaAtBen = () => ben.provider.awareness.getStates().get(ada.doc.clientID)?.user?.name;
  await waitUntil("Ben to see Ada", () => readAdaAtBen() === "Ada");
  const carl = await connectEditor();
  await waitUntil(
    "Carl to see Ada, who was there before",
    () => carl.provider.awareness.getStates().get(ada.doc.clientID)?.user?.name === "Ada",
  );
  ada.provider.ws?.close();
  ada.provider.shouldConnect = false;
  await waitUntil("Ada to be gone", () => readAdaAtBen() === undefined);
});

test("offline edits are merged with changes made meanwhile", async () => {
  await writeFile("offline.md", "a\nb\nc\n");
  const ada = await connectEditor();
  ada.provider.disconnect();
  ada.text("offline.md").insert(0, "mine\n");
  await writeFile("offline.md", "a\nb\nc\ntheirs\n");
  ada.provider.connect();
  await waitUntil("the file to have both", async () => (await readFile("offline.md")) === "mine\na\nb\nc\ntheirs\n");
  await waitUntil("the document to have both", () => ada.read("offline.md") === "mine\na\nb\nc\ntheirs\n");
});

test("a connection with the read scope sees everything and changes nothing", async () => {
  await writeFile("ro.md", "start\n");
  const [ada, reader] = await Promise.all([connectEditor(), connectEditor({ token: readOnly })]);
  reader.text("ro.md").insert(0, "no ");
  ada.text("ro.md").insert(6, "more\n");
  await waitUntil("the reader to see it", () => reader.read("ro.md") === "no start\nmore\n");
  await reader.waitForSync();
  expect(await readFile("ro.md")).toBe("start\nmore\n");
  expect([ada.read("ro.md"), reader.closed]).toEqual(["start\nmore\n", []]);
});

test("other users are rejected", async () => {
  const { url } = testbed.host();
  const { token } = (await testbed.api("/tokens", "POST", { name: "carol's", user: "carol", scopes: ["read", "chat"] }))
    .body;
  const carol = openEditor({ url, token, at });
  editors.push(carol);
  await waitUntil("Carol to be rejected", () => carol.closed.length > 0);
  expect([carol.closed[0]?.code, carol.readAll()]).toEqual([4403, {}]);
});

test("a branch has its own document, and an unknown branch is rejected", async () => {
  await writeFile("branched.md", "main\n");
  expect((await testbed.api(`${at}/branches`, "POST", { name: "try" })).status).toBe(201);
  const [onMain, onBranch] = await Promise.all([connectEditor(), connectEditor({ branch: "try" })]);
  onBranch.text("branched.md").insert(0, "branch ");
  await waitUntil(
    "the branch to have it",
    async () => (await readFile("branched.md", "?branch=try")) === "branch main\n",
  );
  onMain.text("branched.md").insert(5, "more\n");
  await waitUntil("main to have it", async () => (await readFile("branched.md")) === "main\nmore\n");
  expect((await testbed.api(`${at}/branches/try/merge`, "POST", {})).status).toBe(201);
  await waitUntil("the merge to reach the editor", () => onMain.read("branched.md")?.includes("branch"));
  expect((await testbed.api(`${at}/branches/try`, "DELETE")).status).toBe(204);
  await waitUntil("the branch's editor to be disconnected", () => onBranch.closed.length > 0);
  expect(onBranch.closed[0]?.code).toBe(4404);
  const unknown = openEditor({ ...testbed.host(), at, branch: "nowhere" });
  editors.push(unknown);
  await waitUntil("the connection to be rejected", () => unknown.closed.length > 0);
  expect(unknown.closed).toEqual([{ code: 4404, reason: "There is no branch “nowhere”." }]);
});

test("after main is killed, editors reconnect and nothing is lost or duplicated", async () => {
  await writeFile("crash.md", "");
  const [ada, ben] = await Promise.all([connectEditor(), connectEditor()]);
  ada.text("crash.md").insert(0, "before ");
  await waitUntil("Ben to see it", () => ben.read("crash.md") === "before ");
  await testbed.killMain();
  ben.text("crash.md").insert(7, "between ");
  await waitUntil(
    "both to have all edits",
    () => [ada, ben].every((editor) => editor.provider.synced && editor.read("crash.md") === "before between "),
    { timeoutMs: 30_000 },
  );
  expect(await readFile("crash.md")).toBe("before between ");
});

test("an edit that is too large or invalid disconnects only its sender", async () => {
  await writeFile("big.md", "small\n");
  await writeFile("Case.md", "x");
  const ada = await connectEditor();
  const big = await connectEditor();
  big.text("big.md").insert(0, "x".repeat(1100 * 1024));
  await waitUntil("the large edit to be rejected", () => big.closed.length > 0);
  expect(big.closed[0]?.code).toBe(4413);
  const filler = await connectEditor();
  filler.text("big.md").insert(0, "x".repeat(900 * 1024));
  await waitUntil("Ada to see it", () => (ada.read("big.md")?.length ?? 0) > 900 * 1024);
  filler.text("big.md").insert(0, "y".repeat(200 * 1024));
  await waitUntil("the edit over the limit to be rejected", () => filler.closed.length > 0);
  expect(filler.closed[0]).toMatchObject({ code: 4413, reason: expect.stringContaining("big.md") });
  const colliding = await connectEditor();
  colliding.doc.getMap<Y.Text>("files").set("case.md", new Y.Text("y"));
  await waitUntil("the colliding name to be rejected", () => colliding.closed.length > 0);
  expect(colliding.closed[0]?.code).toBe(4409);
  ada.text("big.md").insert(0, "still here ");
  await waitUntil("Ada's edit to be saved", async () => String(await readFile("big.md")).startsWith("still here xxx"));
  expect([ada.closed, ada.read("big.md") === (await readFile("big.md")), ada.read("case.md")]).toEqual([
    [],
    true,
    undefined,
  ]);
});

test("a client that does not read is disconnected, and the others continue", async () => {
  await writeFile("stream.md", "");
  const { url, token } = testbed.host();
  const stalled = new WebSocket(`${url.replace("http", "ws")}${at}/yjs`, {
    headers: { authorization: `Bearer ${token}` },
  });
  await new Promise((resolve) => stalled.once("open", resolve));
  stalled.pause();
  const ada = await connectEditor();
  for (let round = 0; round < 30; round += 1) {
    const letter = String.fromCharCode(97 + (round % 26));
    await writeFile("stream.md", `${letter.repeat(500_000)}\n`);
  }
  await waitUntil("Ada to have the last", () => ada.read("stream.md")?.startsWith("d"));
  const closed = new Promise<number>((resolve) => stalled.once("close", resolve));
  stalled.resume();
  await waitUntil("the stalled client to be disconnected", () => stalled.readyState === WebSocket.CLOSING);
  stalled.terminate();
  expect(await closed).toBe(1013);
  expect(ada.closed).toEqual([]);
});
