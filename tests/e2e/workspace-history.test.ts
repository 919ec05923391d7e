import type { VersionDiff } from "@thinkery/sdk";
import { applyPatch } from "diff";
import { unzipSync } from "fflate";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createRandom, type Random } from "../kit/random.ts";
import { getRepeatCount } from "../kit/sample.ts";
import { openTestbed, type Testbed } from "../kit/worker/testbed.ts";

let testbed: Testbed;

beforeAll(async () => {
  // Runs each message as a command.
  const shell = [{ steps: [{ call: { tool: "bash", input: { command: "{{ message }}" } } }, { text: "Ran." }] }];
  testbed = await openTestbed({ scripts: { shell }, config: { sandboxSlots: 1 } });
});

afterAll(() => testbed?.stop());

type Files = Map<string, string>;

test("replaying all versions from an empty workspace gives the same files after random edits, commands, reverts, branches and merges", async () => {
  const random = createRandom("workspace-history");
  const { name, say } = await newShell();
  const files = testbed.host().client.agent(name);
  const states = new Map<number, Files>();
  const branches = ["main"];
  const nextAction = random.deck([0, 1, 2, 3, 4, 5, 6, 7, 8]);
  const steps = getRepeatCount("changes of a workspace", { sample: 40, full: 100 });
  for (let step = 0; step < steps; step++) {
    const branch = random.pick(branches);
    const current = await readAll(files, { branch });
    await runAction(random, nextAction(), { files, say, branch, current, branches });
    const { version } = await files.files();
    states.set(version, await readAll(files, {}));
    if (step === steps / 2) await testbed.restartMain();
  }
  const latest = await readAll(files, {});
  for (const [version, state] of states)
    if (version > 0)
      expect(await readAll(files, { version }), `version ${version}, SEED=${random.seed}`).toEqual(state);
  const { versions } = await files.versions({ limit: 200 });
  const replayed: Files = new Map();
  for (const { id } of versions.toReversed()) applyDiff(replayed, (await files.version(id)) as VersionDiff);
  expect(sortFiles(replayed), `SEED=${random.seed}`).toEqual(latest);
  // Versions made by the shell name it as their origin.
  const commands = versions.filter(({ origin }) => origin.tool === "bash");
  expect(commands.length).toBeGreaterThan(0);
  expect(commands.every(({ origin }) => origin.kind === "agent" && origin.turn && origin.toolCall)).toBe(true);
}, 120_000);

test("a branch can be created from the files as of any event of the log", async () => {
  const { name, say, log } = await newShell();
  const files = testbed.host().client.agent(name);
  await say("echo one > a.txt");
  await files.putFile("b.txt", "by a person");
  await say("echo two > a.txt; rm b.txt");
  const events = await log();
  const changes = events.filter(({ type }) => type === "files.changed");
  expect(changes.map(({ data }) => data)).toMatchObject([
    { version: 1, origin: { tool: "bash" } },
    { version: 2, origin: { user: "owner" } },
    { version: 3 },
  ]);
  const expected: Record<number, [string, string][]> = {
    0: [],
    1: [["a.txt", "one\n"]],
    2: [
      ["a.txt", "one\n"],
      ["b.txt", "by a person"],
    ],
    3: [["a.txt", "two\n"]],
  };
  for (const { seq } of [events[0], events[2], ...changes, events.at(-1)].filter((event) => event !== undefined)) {
    const { id, at } = await files.createBranch({ event: seq });
    expect([...(await readAll(files, { branch: id }))], `event ${seq}`).toEqual(expected[at]);
    expect(at, `event ${seq}`).toBe(changes.filter((event) => event.seq <= seq).length);
  }
});

async function newShell() {
  const agent = await testbed.newAgent({ model: "scripted:shell" });
  return { name: agent.name, say: (command: string) => agent.say(command), log: () => agent.log() };
}

interface ActionContext {
  files: ReturnType<ReturnType<Testbed["host"]>["client"]["agent"]>;
  say(command: string): Promise<unknown>;
  branch: string;
  current: Files;
  branches: string[];
}

const names = ["a.txt", "b.txt", "src/c.ts", "src/deep/d.ts", "e.md"];

async function runAction(
  random: Random,
  index: number,
  { files, say, branch, current, branches }: ActionContext,
): Promise<void> {
  const anyPath = random.pick(names);
  const existingPath = current.size > 0 ? random.pick([...current.keys()]) : anyPath;
  const line = random.text(6, "abcdef");
  const actions: (() => Promise<unknown>)[] = [
    () => files.putFile(anyPath, createContent(random, current.get(anyPath)), { branch }),
    () => files.putFile(existingPath, createContent(random, current.get(existingPath)), { branch }),
    () =>
      say(
        random.pick([
          `echo ${line} >> ${anyPath}`,
          `mkdir -p src/deep && printf '%s\\n' ${line} ${line} > src/deep/d.ts`,
          `sed -i 's/a/${line}/' ${existingPath}`,
          `rm -f ${existingPath}`,
          `mv ${existingPath} moved-${line}.txt`,
          `cat *.txt > all.txt; sort -r all.txt | head -5 > ${anyPath}`,
        ]),
      ),
    () => say(`for n in 1 2 3; do echo "$n ${line}" >> ${existingPath}; done; cp ${existingPath} copy.md`),
    () => files.deleteFile(existingPath, { branch }),
    () =>
      files.editFiles(
        [
          { move: existingPath, to: `moved/${line}.txt` },
          { write: anyPath, content: `${line}\n` },
        ],
        { branch },
      ),
    async () => files.revert({ version: 1 + random.below(Math.max(1, (await files.files()).version)) }),
    async () => {
      if (branches.length > 3) return;
      branches.push((await files.createBranch({ from: branch })).id);
    },
    () => files.mergeBranch(random.pick(branches), random.chance(0.3) ? { into: branch } : {}),
  ];
  try {
    await (actions[index] as () => Promise<unknown>)();
  } catch (error) {
    // An impossible action is rejected and changes nothing.
    expect(["not_found", "conflict", "bad_request"]).toContain((error as { code?: string }).code);
  }
}

function createContent(random: Random, current: string | undefined): string {
  const lines = (current ?? "one\ntwo\nthree\n").split("\n");
  lines.splice(
    random.below(lines.length),
    random.below(3),
    ...Array.from({ length: random.below(3) }, () => random.text(5, "xyzäö ")),
  );
  return lines.join("\n");
}

async function readAll(files: ActionContext["files"], at: { branch?: string; version?: number }): Promise<Files> {
  const zip = new Uint8Array(await new Response(await files.archive(at)).arrayBuffer());
  return sortFiles(
    new Map(Object.entries(unzipSync(zip)).map(([path, bytes]) => [path, new TextDecoder().decode(bytes)])),
  );
}

const sortFiles = (files: Files): Files => new Map([...files].sort(([a], [b]) => (a < b ? -1 : 1)));

/** Applies a version's diffs to the files. */
function applyDiff(files: Files, { id, diffs }: VersionDiff): void {
  const moved = diffs
    .filter(({ kind }) => kind === "move")
    .map(({ from = "", path }) => [path, files.get(from) ?? "", from] as const);
  for (const [, , from] of moved) files.delete(from);
  for (const { path, kind, diff = "" } of diffs) {
    if (kind === "delete") files.delete(path);
    else if (kind !== "move") {
      const text = applyPatch(files.get(path) ?? "", diff, { autoConvertLineEndings: false });
      if (text === false) throw new Error(`version ${id} does not fit on ${path}:\n${diff}\n${files.get(path)}`);
      files.set(path, text);
    }
  }
  for (const [path, text] of moved) files.set(path, text);
}
