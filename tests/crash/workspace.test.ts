import { afterAll, beforeAll, expect, test } from "vitest";
import * as Y from "yjs";
import { type Editor, openEditor } from "../kit/editor.ts";
import { findMain } from "../kit/processes.ts";
import { type Random, createRandom } from "../kit/random.ts";
import { getRepeatCount } from "../kit/sample.ts";
import { waitUntil } from "../kit/wait-until.ts";
import { openTestbed, type Testbed, type TestAgent } from "../kit/worker/testbed.ts";

/** Number of edits by each of three people and an agent. */
const edits = getRepeatCount("edits", { sample: 80, full: 150 });
const kills = getRepeatCount("workspace kills", { sample: 3, full: 4 });
/** Number of edits the agent makes in one call. */
const editsPerCall = 5;
const paths = ["one.md", "two.md"];
const anchor = "# the agent's\n";

let testbed: Testbed;
let agent: TestAgent;
let at: string;
const editors = new Set<Editor>();

beforeAll(async () => {
  const many = Array.from({ length: editsPerCall }, (_, index) => ({
    oldString: anchor,
    newString: `${anchor}{{ message }}-${index}\n`,
  }));
  const exchanges = [
    { when: "look", steps: [{ call: { tool: "readFile", input: { path: "one.md" } } }, { text: "I see." }] },
    {
      when: "/^agent/",
      steps: [{ call: { tool: "editFile", input: { path: "one.md", edits: many } } }, { text: "Done." }],
    },
  ];
  testbed = await openTestbed({
    scripts: { worker: { exchanges } },
    config: {
      maxFailuresPerMinute: 100_000,
      sandboxSlots: 0,
      turn: { heartbeatSeconds: 1, maxCrashes: 20, maxAttempts: 20 },
    },
  });
  agent = await testbed.newAgent({ model: "scripted:worker" });
  at = `/agency/global/agent/${agent.name}`;
});

afterAll(async () => {
  for (const editor of editors) editor.stop();
  await testbed?.stop();
});

function open(): Editor {
  const editor = openEditor({ ...testbed.host(), at });
  editors.add(editor);
  return editor;
}

function close(editor: Editor): void {
  editor.provider.ws?.close();
  editor.stop();
  editors.delete(editor);
}

/** Sends a request until there is a response, as a careful client does. */
async function send(path: string, init: RequestInit = {}): Promise<Response> {
  const { url, token } = testbed.host();
  return waitUntil(`a response to ${path}`, async () => {
    const response = await fetch(url + at + path, {
      ...init,
      headers: { authorization: `Bearer ${token}`, ...(init.headers as Record<string, string>) },
      signal: AbortSignal.timeout(5_000),
    });
    if (response.status < 500) return response;
    await response.body?.cancel();
    return undefined;
  });
}

const read = async (path: string) => (await send(`/files/${path}`)).text();

async function kill(before = 0): Promise<number> {
  const main = await waitUntil("main to run", () => findMain(testbed.home, before), { intervalMs: 30 });
  process.kill(main.pid, "SIGKILL");
  return main.pid;
}

test(
  `three people and an agent converge without losing one of ${edits} edits each, over ${kills} kills of main`,
  async () => {
    const random = createRandom("workspace");
    for (const path of paths) await send(`/files/${path}`, { method: "PUT", body: anchor });
    expect((await agent.say("look")).type).toBe("agent.completed");
    const people = [open(), open(), open()];
    await Promise.all(people.map((person) => person.waitForSync()));
    const expected = new Set<string>();
    let done = 0;

    const typing = people.map((person, index) => type(person, `person${index}`, random, expected, () => (done += 1)));
    const working = work(people[0] as Editor, expected, () => (done += editsPerCall));
    const putting = put(Math.ceil(edits / 10), expected);
    const killing = (async () => {
      const all = edits * 4;
      let killed = 0;
      for (let count = 0; count < kills; count += 1) {
        // Main has to respond in between, or the daemon's backoff would grow.
        const before = listStateVectors(people);
        await waitUntil(
          "everybody to receive others' edits",
          () =>
            people.every((person) => person.provider.synced) &&
            listStateVectors(people).every((vector, index) => vector !== before[index]),
          { timeoutMs: 60_000 },
        );
        await waitUntil("some more edits", () => done >= ((count + 0.5) * all) / kills, { timeoutMs: 120_000 });
        await new Promise((resolve) => setTimeout(resolve, random.below(20)));
        killed = await kill(killed);
      }
    })();
    await Promise.all([...typing, working, putting, killing]);

    await waitUntil(
      "all people to have the same text",
      () =>
        people.every(
          (person) => person.provider.synced && readLines(person).length === readLines(people[0] as Editor).length,
        ) && readLines(people[0] as Editor).length >= expected.size,
      {
        timeoutMs: 30_000,
      },
    );
    const files = Object.fromEntries(await Promise.all(paths.map(async (path) => [path, await read(path)] as const)));
    const late = open();
    await late.waitForSync();
    for (const editor of [...people, late]) expect(editor.readAll()).toEqual(files);
    // Each edit is there exactly once.
    expect(readLines(late).sort()).toEqual([...expected].sort());
    for (const editor of [...people, late]) {
      expect(editor.closed).toEqual([]);
      close(editor);
    }
  },
  Math.max(120_000, edits * 500),
);

test("an edit that reached another client survives a kill of main at that moment, even if all clients disconnect", async () => {
  await send("/files/shown.md", { method: "PUT", body: "" });
  for (let round = 0; round < Math.max(3, kills); round += 1) {
    const [ada, ben] = [open(), open()];
    await Promise.all([ada.waitForSync(), ben.waitForSync()]);
    const main = await waitUntil("main to run", () => findMain(testbed.home));
    const mark = `seen-${round}\n`;
    const shown = new Promise<void>((resolve) => {
      ben.doc.on("update", () => {
        if (!ben.read("shown.md")?.includes(mark)) return;
        process.kill(main.pid, "SIGKILL");
        resolve();
      });
    });
    ada.text("shown.md").insert(ada.text("shown.md").length, mark);
    await shown;
    close(ada);
    close(ben);
    await waitUntil("another main", () => findMain(testbed.home, main.pid));
    expect(await read("shown.md")).toContain(mark);
    const late = open();
    await late.waitForSync();
    expect(late.read("shown.md")).toBe(await read("shown.md"));
    close(late);
  }
});

/** Inserts lines at random places and deletes some of its own. */
async function type(
  person: Editor,
  name: string,
  random: Random,
  expected: Set<string>,
  onEdit: () => void,
): Promise<void> {
  const mine: [path: string, line: string][] = [];
  for (let edit = 0; edit < edits; edit += 1) {
    if (mine.length > 5 && random.chance(0.2)) {
      const [path, line] = mine.splice(random.below(mine.length), 1)[0] as [string, string];
      person.text(path).delete(person.text(path).toString().indexOf(`${line}\n`), line.length + 1);
      expected.delete(line);
    } else {
      const path = random.pick(paths);
      const line = `${name}-${edit}`;
      const text = person.text(path);
      const starts = [...text.toString().matchAll(/\n/g)].map(({ index }) => index + 1);
      text.insert(random.pick(starts), `${line}\n`);
      mine.push([path, line]);
      expected.add(line);
    }
    onEdit();
    // Pauses as between keystrokes.
    await new Promise((resolve) => setTimeout(resolve, 4 + random.below(12)));
  }
}

/** Has the agent make edits repeatedly; `watcher` shows when they are done. */
async function work(watcher: Editor, expected: Set<string>, onEdit: () => void): Promise<void> {
  for (let turn = 0; turn < edits / editsPerCall; turn += 1) {
    const message = `agent${turn}`;
    for (let index = 0; index < editsPerCall; index += 1) expected.add(`${message}-${index}`);
    const body = JSON.stringify({ message, idempotencyKey: message });
    const response = await send("/invoke", { method: "POST", headers: { "content-type": "application/json" }, body });
    expect(response.status).toBe(202);
    await waitUntil(
      `the agent to have made the edits of ${message}`,
      () => watcher.read("one.md")?.includes(`${message}-${editsPerCall - 1}\n`),
      { timeoutMs: 30_000 },
    );
    onEdit();
  }
}

/** Replaces the whole file through the API, if nobody else has changed it since it was read. */
async function put(count: number, expected: Set<string>): Promise<void> {
  for (let edit = 0; edit < count; edit += 1) {
    const line = `put-${edit}`;
    expected.add(line);
    await waitUntil(
      `${line} to be in the file`,
      async () => {
        const response = await send("/files/two.md");
        const text = await response.text();
        if (text.includes(`${line}\n`)) return true;
        await send("/files/two.md", {
          method: "PUT",
          headers: { "if-match": response.headers.get("etag") ?? "" },
          body: `${text}${line}\n`,
        });
        return undefined;
      },
      { timeoutMs: 60_000, intervalMs: 1 },
    );
    await new Promise((resolve) => setTimeout(resolve, 30));
  }
}

/** Returns the state vector of each document without its own edits. */
function listStateVectors(people: readonly Editor[]): string[] {
  return people.map(({ doc }) =>
    JSON.stringify(
      [...Y.decodeStateVector(Y.encodeStateVector(doc))].filter(([client]) => client !== doc.clientID).sort(),
    ),
  );
}

function readLines(person: Editor): string[] {
  return paths
    .flatMap((path) => (person.read(path) ?? "").split("\n"))
    .filter((line) => line !== "" && `${line}\n` !== anchor);
}
