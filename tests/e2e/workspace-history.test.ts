import type { VersionDiff } from "@thinkery/sdk";
import { applyPatch } from "diff";
import { unzipSync } from "fflate";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createRandom, type Random } from "../kit/random.ts";
import { getRepeatCount } from "../kit/sample.ts";
import { openTestbed, type Testbed } from "../kit/worker/testbed.ts";

let workshop: Testbed;

beforeAll(async () => {
  // Whatever is said to this one is a command.
  const shell = [{ steps: [{ call: { tool: "bash", input: { command: "{{ message }}" } } }, { text: "Ran." }] }];
  workshop = await openTestbed({ scripts: { shell }, config: { sandboxSlots: 1 } });
});

afterAll(() => workshop?.stop());

type Files = Map<string, string>;

test("whatever people, a shell, reverts, branches and merges did to files, the versions done again from nothing give the same files", async () => {
  const chance = createRandom("workspace-history");
  const { name, say } = await newShell();
  const files = workshop.house().client.agent(name);
  const states = new Map<number, Files>();
  const branches = ["main"];
  const nextDeed = chance.deck([0, 1, 2, 3, 4, 5, 6, 7, 8]);
  const steps = getRepeatCount("changes of a workspace", { sample: 40, full: 100 });
  for (let step = 0; step < steps; step++) {
    const branch = chance.pick(branches);
    const now = await readAll(files, { branch });
    await act(chance, nextDeed(), { files, say, branch, now, branches });
    const { version } = await files.files();
    states.set(version, await readAll(files, {}));
    if (step === steps / 2) await workshop.restartMain();
  }
  const last = await readAll(files, {});
  for (const [version, state] of states)
    if (version > 0)
      expect(await readAll(files, { version }), `version ${version}, SEED=${chance.seed}`).toEqual(state);
  const { versions } = await files.versions({ limit: 200 });
  const again: Files = new Map();
  for (const { id } of versions.toReversed()) applyDiff(again, (await files.version(id)) as VersionDiff);
  expect(sortFiles(again), `SEED=${chance.seed}`).toEqual(last);
  // The shell had its part in it, and is named.
  const commands = versions.filter(({ origin }) => origin.tool === "bash");
  expect(commands.length).toBeGreaterThan(0);
  expect(commands.every(({ origin }) => origin.kind === "agent" && origin.turn && origin.toolCall)).toBe(true);
}, 120_000);

test("files can be had again as they were at any event of the log", async () => {
  const { name, say, log } = await newShell();
  const files = workshop.house().client.agent(name);
  await say("echo one > a.txt");
  await files.putFile("b.txt", "by a person");
  await say("echo two > a.txt; rm b.txt");
  const events = await log();
  const told = events.filter(({ type }) => type === "files.changed");
  expect(told.map(({ data }) => data)).toMatchObject([
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
  for (const { seq } of [events[0], events[2], ...told, events.at(-1)].filter((event) => event !== undefined)) {
    const { id, at } = await files.createBranch({ event: seq });
    expect([...(await readAll(files, { branch: id }))], `event ${seq}`).toEqual(expected[at]);
    expect(at, `event ${seq}`).toBe(told.filter((event) => event.seq <= seq).length);
  }
});

async function newShell() {
  const agent = await workshop.newAgent({ model: "scripted:shell" });
  return { name: agent.name, say: (command: string) => agent.say(command), log: () => agent.log() };
}

interface Scene {
  files: ReturnType<ReturnType<Testbed["house"]>["client"]["agent"]>;
  say(command: string): Promise<unknown>;
  branch: string;
  now: Files;
  branches: string[];
}

const names = ["a.txt", "b.txt", "src/c.ts", "src/deep/d.ts", "e.md"];

async function act(chance: Random, deed: number, { files, say, branch, now, branches }: Scene): Promise<void> {
  const some = chance.pick(names);
  const there = now.size > 0 ? chance.pick([...now.keys()]) : some;
  const line = chance.text(6, "abcdef");
  const deeds: (() => Promise<unknown>)[] = [
    () => files.putFile(some, createContent(chance, now.get(some)), { branch }),
    () => files.putFile(there, createContent(chance, now.get(there)), { branch }),
    () =>
      say(
        chance.pick([
          `echo ${line} >> ${some}`,
          `mkdir -p src/deep && printf '%s\\n' ${line} ${line} > src/deep/d.ts`,
          `sed -i 's/a/${line}/' ${there}`,
          `rm -f ${there}`,
          `mv ${there} moved-${line}.txt`,
          `cat *.txt > all.txt; sort -r all.txt | head -5 > ${some}`,
        ]),
      ),
    () => say(`for n in 1 2 3; do echo "$n ${line}" >> ${there}; done; cp ${there} copy.md`),
    () => files.deleteFile(there, { branch }),
    () =>
      files.editFiles(
        [
          { move: there, to: `kept/${line}.txt` },
          { write: some, content: `${line}\n` },
        ],
        { branch },
      ),
    async () => files.revert({ version: 1 + chance.below(Math.max(1, (await files.files()).version)) }),
    async () => {
      if (branches.length > 3) return;
      branches.push((await files.createBranch({ from: branch })).id);
    },
    () => files.mergeBranch(chance.pick(branches), chance.chance(0.3) ? { into: branch } : {}),
  ];
  try {
    await (deeds[deed] as () => Promise<unknown>)();
  } catch (error) {
    // What cannot be done is refused, and changes nothing.
    expect(["not_found", "conflict", "bad_request"]).toContain((error as { code?: string }).code);
  }
}

function createContent(chance: Random, now: string | undefined): string {
  const lines = (now ?? "one\ntwo\nthree\n").split("\n");
  lines.splice(
    chance.below(lines.length),
    chance.below(3),
    ...Array.from({ length: chance.below(3) }, () => chance.text(5, "xyzäö ")),
  );
  return lines.join("\n");
}

async function readAll(files: Scene["files"], place: { branch?: string; version?: number }): Promise<Files> {
  const zip = new Uint8Array(await new Response(await files.archive(place)).arrayBuffer());
  return sortFiles(
    new Map(Object.entries(unzipSync(zip)).map(([path, bytes]) => [path, new TextDecoder().decode(bytes)])),
  );
}

const sortFiles = (files: Files): Files => new Map([...files].sort(([a], [b]) => (a < b ? -1 : 1)));

/** Does to the files what a version's differences say. */
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
