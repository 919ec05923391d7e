import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { WebSocket } from "ws";
import * as Y from "yjs";
import { type Editor, openEditor } from "../kit/editor.ts";
import { waitUntil } from "../kit/wait-until.ts";
import { openTestbed, type Testbed, type TestAgent } from "../kit/worker/testbed.ts";

let workshop: Testbed;
let agent: TestAgent;
let at: string;
let readOnly: string;
const editors: Editor[] = [];

beforeAll(async () => {
  workshop = await openTestbed({
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
  agent = await workshop.newAgent({ model: "scripted:writer" });
  at = `/agency/global/agent/${agent.name}`;
  readOnly = (await workshop.api("/tokens", "POST", { name: "reader", scopes: ["read"] })).body.token;
});

afterEach(() => {
  for (const editor of editors.splice(0)) editor.stop();
});

afterAll(() => workshop?.stop());

async function edit(given: { branch?: string; token?: string; doc?: Y.Doc } = {}): Promise<Editor> {
  const { url, token } = workshop.house();
  const editor = openEditor({ url, token, at, ...given });
  editors.push(editor);
  await editor.waitForSync();
  return editor;
}

const buildFilePath = (path: string, query = "") => `${at}/files/${path}${query}`;
const readFile = async (path: string, query = "") => {
  const { status, body } = await workshop.api(buildFilePath(path, query));
  return status === 200 ? body : undefined;
};

async function writeFile(path: string, content: string | Uint8Array, query = ""): Promise<void> {
  const { url, token } = workshop.house();
  const response = await fetch(url + buildFilePath(path, query), {
    method: "PUT",
    headers: { authorization: `Bearer ${token}` },
    body: content as BodyInit,
  });
  if (!response.ok) throw new Error(`${response.status}: ${await response.text()}`);
  await response.body?.cancel();
}

test("what one types the other sees, and it is in the files; what the API writes both see", async () => {
  await writeFile("notes/a.md", "one\n");
  const [ada, ben] = await Promise.all([edit(), edit()]);
  expect(ada.read("notes/a.md")).toBe("one\n");
  ada.text("notes/a.md").insert(4, "two\n");
  await waitUntil("Ben to see it", () => ben.read("notes/a.md") === "one\ntwo\n");
  expect(await readFile("notes/a.md")).toBe("one\ntwo\n");
  ben.doc.getMap<Y.Text>("files").set("notes/b.md", new Y.Text("new"));
  await waitUntil("Ada to see the new file", () => ada.read("notes/b.md") === "new");
  await writeFile("notes/a.md", "one\n2\n");
  await writeFile("logo.png", new Uint8Array([0x89, 0x50, 0, 1]));
  await waitUntil("both to see what was put", () =>
    [ada, ben].every((one) => one.read("notes/a.md") === "one\n2\n" && one.doc.getMap("binaries").has("logo.png")),
  );
  await workshop.api(buildFilePath("notes/b.md"), "DELETE");
  await waitUntil("both to see it go", () => [ada, ben].every((one) => one.read("notes/b.md") === undefined));
  const { body } = await workshop.api(`${at}/versions?path=notes/b.md`);
  expect(body.versions.map(({ origin }: any) => origin)).toEqual([
    { kind: "user", user: "owner" },
    { kind: "user", user: "owner" },
  ]);
});

test("an agent edits a file that somebody is typing in, and both edits are there", async () => {
  await writeFile("shared.md", "first line\nsecond line\nthird line\n");
  const ada = await edit();
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
  const { body } = await workshop.api(`${at}/versions?path=shared.md`);
  const makers = body.versions.map(({ origin }: any) => origin.tool ?? origin.user);
  expect(makers).toContain("editFile");
  // Typing is a few versions, not one for each key.
  expect(makers.length).toBeLessThan(8);
});

test("presence reaches the others, and ends when somebody leaves", async () => {
  const [ada, ben] = await Promise.all([edit(), edit()]);
  ada.provider.awareness.setLocalStateField("user", { name: "Ada" });
  const seen = () => ben.provider.awareness.getStates().get(ada.doc.clientID)?.user?.name;
  await waitUntil("Ben to see Ada", () => seen() === "Ada");
  const carl = await edit();
  await waitUntil(
    "Carl to see Ada, who was there before",
    () => carl.provider.awareness.getStates().get(ada.doc.clientID)?.user?.name === "Ada",
  );
  ada.provider.ws?.close();
  ada.provider.shouldConnect = false;
  await waitUntil("Ada to be gone", () => seen() === undefined);
});

test("edits made without a connection are merged with what happened meanwhile", async () => {
  await writeFile("offline.md", "a\nb\nc\n");
  const ada = await edit();
  ada.provider.disconnect();
  ada.text("offline.md").insert(0, "mine\n");
  await writeFile("offline.md", "a\nb\nc\ntheirs\n");
  ada.provider.connect();
  await waitUntil("the file to have both", async () => (await readFile("offline.md")) === "mine\na\nb\nc\ntheirs\n");
  await waitUntil("the document to have both", () => ada.read("offline.md") === "mine\na\nb\nc\ntheirs\n");
});

test("a connection with the scope read is shown everything and changes nothing", async () => {
  await writeFile("ro.md", "start\n");
  const [ada, reader] = await Promise.all([edit(), edit({ token: readOnly })]);
  reader.text("ro.md").insert(0, "no ");
  ada.text("ro.md").insert(6, "more\n");
  await waitUntil("the reader to see it", () => reader.read("ro.md") === "no start\nmore\n");
  await reader.waitForSync();
  expect(await readFile("ro.md")).toBe("start\nmore\n");
  expect([ada.read("ro.md"), reader.closed]).toEqual(["start\nmore\n", []]);
});

test("nobody else gets in", async () => {
  const { url } = workshop.house();
  const { token } = (
    await workshop.api("/tokens", "POST", { name: "carol's", user: "carol", scopes: ["read", "chat"] })
  ).body;
  const carol = openEditor({ url, token, at });
  editors.push(carol);
  await waitUntil("Carol to be refused", () => carol.closed.length > 0);
  expect([carol.closed[0]?.code, carol.readAll()]).toEqual([4403, {}]);
});

test("a branch has a document of its own, and one that is not there is refused", async () => {
  await writeFile("branched.md", "main\n");
  expect((await workshop.api(`${at}/branches`, "POST", { name: "try" })).status).toBe(201);
  const [onMain, onBranch] = await Promise.all([edit(), edit({ branch: "try" })]);
  onBranch.text("branched.md").insert(0, "branch ");
  await waitUntil(
    "the branch to have it",
    async () => (await readFile("branched.md", "?branch=try")) === "branch main\n",
  );
  onMain.text("branched.md").insert(5, "more\n");
  await waitUntil("main to have it", async () => (await readFile("branched.md")) === "main\nmore\n");
  expect((await workshop.api(`${at}/branches/try/merge`, "POST", {})).status).toBe(201);
  await waitUntil("what was merged to be live", () => onMain.read("branched.md")?.includes("branch"));
  expect((await workshop.api(`${at}/branches/try`, "DELETE")).status).toBe(204);
  await waitUntil("those on it to be told", () => onBranch.closed.length > 0);
  expect(onBranch.closed[0]?.code).toBe(4404);
  const nowhere = openEditor({ ...workshop.house(), at, branch: "nowhere" });
  editors.push(nowhere);
  await waitUntil("it to be refused", () => nowhere.closed.length > 0);
  expect(nowhere.closed).toEqual([{ code: 4404, reason: "There is no branch “nowhere”." }]);
});

test("when main is killed, editors come back and nothing is lost or doubled", async () => {
  await writeFile("crash.md", "");
  const [ada, ben] = await Promise.all([edit(), edit()]);
  ada.text("crash.md").insert(0, "before ");
  await waitUntil("Ben to see it", () => ben.read("crash.md") === "before ");
  await workshop.killMain();
  ben.text("crash.md").insert(7, "between ");
  await waitUntil(
    "both to have all",
    () => [ada, ben].every((one) => one.provider.synced && one.read("crash.md") === "before between "),
    { within: 30_000 },
  );
  expect(await readFile("crash.md")).toBe("before between ");
});

test("what is too large or cannot be is refused to its sender alone", async () => {
  await writeFile("big.md", "small\n");
  await writeFile("Case.md", "x");
  const ada = await edit();
  const big = await edit();
  big.text("big.md").insert(0, "x".repeat(1100 * 1024));
  await waitUntil("the large one to be refused", () => big.closed.length > 0);
  expect(big.closed[0]?.code).toBe(4413);
  const filler = await edit();
  filler.text("big.md").insert(0, "x".repeat(900 * 1024));
  await waitUntil("Ada to see it", () => (ada.read("big.md")?.length ?? 0) > 900 * 1024);
  filler.text("big.md").insert(0, "y".repeat(200 * 1024));
  await waitUntil("what is over the limit to be refused", () => filler.closed.length > 0);
  expect(filler.closed[0]).toMatchObject({ code: 4413, reason: expect.stringContaining("big.md") });
  const twin = await edit();
  twin.doc.getMap<Y.Text>("files").set("case.md", new Y.Text("y"));
  await waitUntil("the twin to be refused", () => twin.closed.length > 0);
  expect(twin.closed[0]?.code).toBe(4409);
  ada.text("big.md").insert(0, "still here ");
  await waitUntil("Ada to go on", async () => String(await readFile("big.md")).startsWith("still here xxx"));
  expect([ada.closed, ada.read("big.md") === (await readFile("big.md")), ada.read("case.md")]).toEqual([
    [],
    true,
    undefined,
  ]);
});

test("whoever does not read is cut off, and the others go on", async () => {
  await writeFile("stream.md", "");
  const { url, token } = workshop.house();
  const deaf = new WebSocket(`${url.replace("http", "ws")}${at}/yjs`, {
    headers: { authorization: `Bearer ${token}` },
  });
  await new Promise((resolve) => deaf.once("open", resolve));
  deaf.pause();
  const ada = await edit();
  for (let round = 0; round < 30; round += 1) {
    const letter = String.fromCharCode(97 + (round % 26));
    await writeFile("stream.md", `${letter.repeat(500_000)}\n`);
  }
  await waitUntil("Ada to have the last", () => ada.read("stream.md")?.startsWith("d"));
  const closed = new Promise<number>((resolve) => deaf.once("close", resolve));
  deaf.resume();
  await waitUntil("the deaf one to be told", () => deaf.readyState === WebSocket.CLOSING);
  deaf.terminate();
  expect(await closed).toBe(1013);
  expect(ada.closed).toEqual([]);
});
