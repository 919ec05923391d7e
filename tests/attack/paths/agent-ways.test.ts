import { createHash } from "node:crypto";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { parseFilePath, foldPathCase } from "@thinkery/sdk";
import { afterAll, beforeAll, expect, test } from "vitest";
import * as Y from "yjs";
import { type Editor, openEditor } from "../../kit/editor.ts";
import { createHomePath, type HostProcess, startHostProcess, removeHome } from "../../kit/host-process.ts";
import { isLongRun, sample } from "../../kit/sample.ts";
import { waitUntil } from "../../kit/wait-until.ts";
import { pathCases as allCases, twins } from "./cases.ts";

// Hostile paths by the ways that an agent has: its tools, what its code calls, its shell; and by that of people who
// edit with it. What comes by HTTP has its own file.

const pathCases = sample(allCases, { name: "hostile paths by an agent's ways", size: 200, kindOf: ({ why }) => why });

let house: HostProcess;
let home: string;
let before: Record<string, string>;
const editors: Editor[] = [];

beforeAll(async () => {
  home = await createHomePath();
  await mkdir(join(home, "scripts"), { recursive: true, mode: 0o700 });
  await writeFile(join(home, "config.jsonc"), JSON.stringify({ sandboxSlots: 2, sandbox: { timeoutSeconds: 60 } }));
  const script = [
    { steps: [{ call: { tool: "executeCode", input: { code: "{{ message }}" } } }, { text: "{{ results.0 }}" }] },
  ];
  await writeFile(join(home, "scripts", "code.yaml"), JSON.stringify(script));
  house = await startHostProcess({ home });
  before = await snapshotSurroundings();
});

afterAll(async () => {
  for (const editor of editors) editor.stop();
  await house?.stop();
  await removeHome(home);
});

/** What lies in the home and beside it, but for what the host itself writes to while it runs. */
async function snapshotSurroundings(): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const entry of await readdir(dirname(home), { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name).slice(dirname(home).length + 1);
    if (/^home\/(?:objects|blobs|logs|run|lock)(?:\/|$)/.test(path)) continue;
    found[path] = entry.isFile()
      ? createHash("sha256")
          .update(await readFile(join(dirname(home), path)))
          .digest("hex")
      : "";
  }
  return found;
}

async function sendMessage(name: string, message: string): Promise<string> {
  const turn = await house.client.agent(name).send(message);
  const { status, content, failure } = await turn.outcome();
  expect([status, failure]).toEqual(["completed", undefined]);
  return content;
}

async function newAgent(name: string, model: string): Promise<void> {
  await house.client.agents().create({ name, model });
}

const listFiles = async (name: string) =>
  (await house.client.agent(name).files({ limit: 500 })).files.map(({ path }) => path);

/** Paths that can be beside each other: of each first name one. What is left comes in the next round. */
function groupInRounds<T extends { path: string }>(cases: readonly T[], most: number): T[][] {
  const all: { taken: Set<string>; cases: T[] }[] = [];
  for (const one of cases) {
    const first = foldPathCase(
      one.path
        .replace(/^(?:\/work\/|\.\/)+/, "")
        .normalize("NFC")
        .split("/", 1)[0] as string,
    );
    let round = all.find(({ taken, cases }) => !taken.has(first) && cases.length < most);
    if (!round) all.push((round = { taken: new Set(), cases: [] }));
    round.taken.add(first);
    round.cases.push(one);
  }
  return all.map(({ cases }) => cases);
}

const landing = pathCases.filter(({ lands }) => lands !== undefined);
const refused = pathCases.filter(({ lands }) => lands === undefined);
/** Fewer would mean that the attack itself does not work. */
const minFilesFound = isLongRun() ? 100 : landing.length / 2;

/** Tries each path in code, and tells those that did not come to what they should. A run may make 1000 calls. */
async function findWrongOutcomes(name: string, write: string): Promise<unknown[]> {
  await newAgent(name, "scripted:code");
  const outOfPlace = await sendMessage(
    name,
    `const tried = await Promise.all(${JSON.stringify(refused.map(({ path }) => path))}.map(async (path) => [path, await (async () => { ${write} })().then(() => "written", (error) => error.message)]));
    return JSON.stringify([...tried.filter(([, what]) => !/cannot be a path in the workspace/.test(what)), ...(await fs.list())])`,
  );
  const misplaced = await sendMessage(
    name,
    `const wrong = [];
    for (const round of ${JSON.stringify(groupInRounds(landing, 100).map((round) => round.map(({ path, lands }) => [path, lands])))}) {
      for (const { reason } of await Promise.allSettled(round.map(async ([path]) => { ${write} }))) if (reason) wrong.push(reason.message);
      const found = (await fs.list()).map((file) => file.path);
      wrong.push(...round.filter(([, lands]) => !found.includes(lands)), ...found.filter((path) => !round.some(([, lands]) => lands === path)));
      await Promise.all(found.map((path) => fs.delete(path)));
    }
    return JSON.stringify(wrong)`,
  );
  return [...(JSON.parse(outOfPlace) as unknown[]), ...(JSON.parse(misplaced) as unknown[])];
}

test("code that writes to hostile paths with fs gets an error or a file inside the workspace", async () => {
  expect(await findWrongOutcomes("by-fs", `await fs.writeFile(path, "x")`)).toEqual([]);
});

test("a model that writes to hostile paths with its tools gets an error or a file inside the workspace", async () => {
  expect(await findWrongOutcomes("by-tools", `await tools.writeFile({ path, content: "x" })`)).toEqual([]);
});

test("of names that differ only by case or spelling, the first is written and the others are refused", async () => {
  await newAgent("twins", "scripted:code");
  const wrong = await sendMessage(
    "twins",
    `const wrong = [];
    for (const [first, ...others] of ${JSON.stringify(twins)}) {
      for (const inside of ["", "/x"]) {
        await fs.writeFile(first + inside, "first");
        for (const other of others) {
          if (other.normalize("NFC") === first.normalize("NFC")) continue;
          const refused = await fs.writeFile(other + inside.replace("x", "y"), "other").then(() => "written", (error) => error.message);
          if (!/differs from it by upper and lower case only/.test(refused)) wrong.push([first, other, inside, refused]);
        }
        const found = (await fs.list()).map((file) => file.path);
        if (found.length !== 1) wrong.push(found);
        for (const path of found) await fs.delete(path);
      }
    }
    return JSON.stringify(wrong)`,
  );
  expect(JSON.parse(wrong)).toEqual([]);
});

test("the shell writes hostile paths only inside the workspace", async () => {
  await newAgent("by-shell", "scripted:code");
  // No command has a NUL or half a character in it.
  const paths = pathCases.filter(({ path }) => !path.includes("\0") && path.isWellFormed() && path.length < 1_500);
  // Some of them fail, and so may a whole command.
  const commands = groupInRounds(paths, 60).map((round) =>
    round
      .map(({ path }) => `'${path.replaceAll("'", `'\\''`)}'`)
      .reduce(
        (command, path) => `${command}\nmkdir -p -- "$(dirname -- ${path})"; echo x > ${path}`,
        "rm -rf ./* ./.[!.]*",
      ),
  );
  const landed = await sendMessage(
    "by-shell",
    `const landed = [];
    for (const command of ${JSON.stringify(commands)}) {
      await bash(command).catch(() => {});
      landed.push(...(await fs.list()).map((file) => file.path));
    }
    return JSON.stringify([...new Set(landed)])`,
  );
  const found = JSON.parse(landed) as string[];
  expect(found.length).toBeGreaterThan(minFilesFound);
  for (const path of found) expect(parseFilePath(path)).toBe(path);
});

test("an editor that adds files at hostile paths adds only those that are valid", async () => {
  await newAgent("by-typing", "scripted:code");
  const editor = openEditor({ url: house.url, token: house.token, at: "/agency/global/agent/by-typing" });
  editors.push(editor);
  await editor.waitForSync();
  const files = editor.doc.getMap<Y.Text>("files");
  for (const { path } of [...refused, ...(groupInRounds(landing, 200)[0] ?? [])])
    if (path.isWellFormed()) files.set(path, new Y.Text("x"));
  files.set("the-last-one", new Y.Text("x"));
  await waitUntil("the last one to be there", async () => (await listFiles("by-typing")).includes("the-last-one"));
  const lands = new Set(pathCases.map(({ lands }) => lands));
  const found = await listFiles("by-typing");
  expect(found.length).toBeGreaterThan(minFilesFound);
  expect(editor.closed).toEqual([]);
  for (const path of found)
    expect([path, path === "the-last-one" || (lands.has(path) && parseFilePath(path) === path)]).toEqual([path, true]);
});

test("nothing was written outside the workspace, and the host never restarted", async () => {
  expect(await snapshotSurroundings()).toEqual(before);
  expect((await house.client.call("health")).restarts).toBe(0);
});
