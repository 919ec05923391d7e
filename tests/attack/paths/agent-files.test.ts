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
import { pathCases as allCases, caseCollisions } from "./cases.ts";

// Hostile paths through an agent's tools, code and shell, and through live editors. See files-http.test.ts for HTTP.

const pathCases = sample(allCases, { name: "hostile paths from agents", size: 200, kindOf: ({ kind }) => kind });

let host: HostProcess;
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
  host = await startHostProcess({ home });
  before = await snapshotSurroundings();
});

afterAll(async () => {
  for (const editor of editors) editor.stop();
  await host?.stop();
  await removeHome(home);
});

/** The files in and around the home, without those that the host itself writes while it runs. */
async function snapshotSurroundings(): Promise<Record<string, string>> {
  const entries: Record<string, string> = {};
  for (const entry of await readdir(dirname(home), { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name).slice(dirname(home).length + 1);
    if (/^home\/(?:objects|blobs|logs|run|lock)(?:\/|$)/.test(path)) continue;
    entries[path] = entry.isFile()
      ? createHash("sha256")
          .update(await readFile(join(dirname(home), path)))
          .digest("hex")
      : "";
  }
  return entries;
}

async function sendMessage(name: string, message: string): Promise<string> {
  const turn = await host.client.agent(name).send(message);
  const { status, content, failure } = await turn.outcome();
  expect([status, failure]).toEqual(["completed", undefined]);
  return content;
}

async function newAgent(name: string, model: string): Promise<void> {
  await host.client.agents().create({ name, model });
}

const listFiles = async (name: string) =>
  (await host.client.agent(name).files({ limit: 500 })).files.map(({ path }) => path);

/** Groups paths so that no two in a round start with the same name, and so cannot conflict. */
function groupInRounds<T extends { path: string }>(cases: readonly T[], maxPerRound: number): T[][] {
  const rounds: { taken: Set<string>; cases: T[] }[] = [];
  for (const pathCase of cases) {
    const first = foldPathCase(
      pathCase.path
        .replace(/^(?:\/work\/|\.\/)+/, "")
        .normalize("NFC")
        .split("/", 1)[0] as string,
    );
    let round = rounds.find(({ taken, cases }) => !taken.has(first) && cases.length < maxPerRound);
    if (!round) rounds.push((round = { taken: new Set(), cases: [] }));
    round.taken.add(first);
    round.cases.push(pathCase);
  }
  return rounds.map(({ cases }) => cases);
}

const accepted = pathCases.filter(({ storedAs }) => storedAs !== undefined);
const rejected = pathCases.filter(({ storedAs }) => storedAs === undefined);
/** Fewer files would mean that the attack itself does not work. */
const minFilesFound = isLongRun() ? 100 : accepted.length / 2;

/** Tries each path in code, and returns those with a wrong outcome. A run may make 1000 calls. */
async function findWrongOutcomes(name: string, write: string): Promise<unknown[]> {
  await newAgent(name, "scripted:code");
  const wronglyAccepted = await sendMessage(
    name,
    `const tried = await Promise.all(${JSON.stringify(rejected.map(({ path }) => path))}.map(async (path) => [path, await (async () => { ${write} })().then(() => "written", (error) => error.message)]));
    return JSON.stringify([...tried.filter(([, result]) => !/Invalid path/.test(result)), ...(await fs.list())])`,
  );
  const misplaced = await sendMessage(
    name,
    `const wrong = [];
    for (const round of ${JSON.stringify(groupInRounds(accepted, 100).map((round) => round.map(({ path, storedAs }) => [path, storedAs])))}) {
      for (const { reason } of await Promise.allSettled(round.map(async ([path]) => { ${write} }))) if (reason) wrong.push(reason.message);
      const found = (await fs.list()).map((file) => file.path);
      wrong.push(...round.filter(([, storedAs]) => !found.includes(storedAs)), ...found.filter((path) => !round.some(([, storedAs]) => storedAs === path)));
      await Promise.all(found.map((path) => fs.delete(path)));
    }
    return JSON.stringify(wrong)`,
  );
  return [...(JSON.parse(wronglyAccepted) as unknown[]), ...(JSON.parse(misplaced) as unknown[])];
}

test("code that writes to hostile paths with fs gets an error or a file inside the workspace", async () => {
  expect(await findWrongOutcomes("by-fs", `await fs.writeFile(path, "x")`)).toEqual([]);
});

test("a model that writes to hostile paths with its tools gets an error or a file inside the workspace", async () => {
  expect(await findWrongOutcomes("by-tools", `await tools.writeFile({ path, content: "x" })`)).toEqual([]);
});

test("of names that differ only by case or Unicode form, the first is written and the others are rejected", async () => {
  await newAgent("case-collisions", "scripted:code");
  const wrong = await sendMessage(
    "case-collisions",
    `const wrong = [];
    for (const [first, ...others] of ${JSON.stringify(caseCollisions)}) {
      for (const inside of ["", "/x"]) {
        await fs.writeFile(first + inside, "first");
        for (const other of others) {
          if (other.normalize("NFC") === first.normalize("NFC")) continue;
          const result = await fs.writeFile(other + inside.replace("x", "y"), "other").then(() => "written", (error) => error.message);
          if (!/differs from it only in case/.test(result)) wrong.push([first, other, inside, result]);
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
  // A command cannot contain a NUL or an unpaired surrogate.
  const paths = pathCases.filter(({ path }) => !path.includes("\0") && path.isWellFormed() && path.length < 1_500);
  // Some paths fail, and so may a whole command.
  const commands = groupInRounds(paths, 60).map((round) =>
    round
      .map(({ path }) => `'${path.replaceAll("'", `'\\''`)}'`)
      .reduce(
        (command, path) => `${command}\nmkdir -p -- "$(dirname -- ${path})"; echo x > ${path}`,
        "rm -rf ./* ./.[!.]*",
      ),
  );
  const written = await sendMessage(
    "by-shell",
    `const written = [];
    for (const command of ${JSON.stringify(commands)}) {
      await bash(command).catch(() => {});
      written.push(...(await fs.list()).map((file) => file.path));
    }
    return JSON.stringify([...new Set(written)])`,
  );
  const found = JSON.parse(written) as string[];
  expect(found.length).toBeGreaterThan(minFilesFound);
  for (const path of found) expect(parseFilePath(path)).toBe(path);
});

test("an editor that adds files at hostile paths creates only the valid ones", async () => {
  await newAgent("by-typing", "scripted:code");
  const editor = openEditor({ url: host.url, token: host.token, at: "/agency/global/agent/by-typing" });
  editors.push(editor);
  await editor.waitForSync();
  const files = editor.doc.getMap<Y.Text>("files");
  for (const { path } of [...rejected, ...(groupInRounds(accepted, 200)[0] ?? [])])
    if (path.isWellFormed()) files.set(path, new Y.Text("x"));
  files.set("the-last-one", new Y.Text("x"));
  await waitUntil("the last file", async () => (await listFiles("by-typing")).includes("the-last-one"));
  const validPaths = new Set(pathCases.map(({ storedAs }) => storedAs));
  const found = await listFiles("by-typing");
  expect(found.length).toBeGreaterThan(minFilesFound);
  expect(editor.closed).toEqual([]);
  for (const path of found)
    expect([path, path === "the-last-one" || (validPaths.has(path) && parseFilePath(path) === path)]).toEqual([
      path,
      true,
    ]);
});

test("nothing was written outside the workspace, and the host never restarted", async () => {
  expect(await snapshotSurroundings()).toEqual(before);
  expect((await host.client.call("health")).restarts).toBe(0);
});
