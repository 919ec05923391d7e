import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, open, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type Bench, type Finding, getMedian, compareMedians } from "./kit/bench.ts";
import { measureResidentMegabytes } from "./kit/process.ts";
import { callsATurn, fill, type Office, openOffice, pathOf, textOf, type Worker } from "./workspace/office.ts";
import { typeALot, untilSynced } from "./workspace/typist.ts";

const rounds = 9;
const pipe = "cat src/*/*.ts | grep needle | wc -l";
const search = "grep -rl needle src | wc -l";

const mean = (samples: number[]) => samples.reduce((sum, sample) => sum + sample, 0) / samples.length;

async function timed(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await work();
  return performance.now() - began;
}

export const workspace: Bench = {
  name: "workspace",
  about:
    "files of an agent on a whole host: writing, editing, opening after many edits, searching by shell, what they take when nobody works",
  async run() {
    const office = await openOffice({
      pipe: { tool: "bash", input: (number) => ({ command: `${pipe} # ${number}` }) },
      search: { tool: "bash", input: (number) => ({ command: `${search} # ${number}` }) },
      edit: {
        before: { tool: "readFile", input: { path: "edited.ts" } },
        tool: "writeFile",
        input: (number) => ({ path: "edited.ts", content: `${textOf(0, 2000)}// ${number}\n` }),
      },
      title: { tool: "set_title", input: (number) => ({ title: `Title ${number}` }) },
    });
    try {
      return [
        ...(await shells(office)),
        ...(await edits(office)),
        ...(await writing(office)),
        ...(await opening(office)),
        ...(await idle(office)),
      ];
    } finally {
      await office.stop();
    }
  },
};

/** Commands of an agent against the same in a real shell on a real disk, the start of that shell included. */
async function shells(office: Office): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const [job, command, files, goal] of [
    ["pipe", pipe, 200, 2],
    ["search", search, 2000, 10],
  ] as const) {
    const worker = await office.newAgent(job, job);
    await fill(worker, files, 2000);
    const folder = await onDisk(files, 2000);
    await worker.turn();
    const [ours, real]: [number[], number[]] = [[], []];
    for (let round = 0; round < rounds; round++) {
      ours.push(mean((await worker.turn()).calls));
      real.push(
        mean(
          await series(callsATurn, () =>
            timed(() => once(spawn("bash", ["-c", command], { cwd: folder, stdio: "ignore" }), "exit")),
          ),
        ),
      );
    }
    worker.close();
    await rm(folder, { recursive: true });
    findings.push(
      compareMedians(
        `${job} over ${files} files, ours / real bash`,
        [`bash: ${command}`, ours],
        ["bash -c", real],
        goal,
      ),
    );
  }
  return findings;
}

/** One call that writes a file against one that writes only the log. */
async function edits(office: Office): Promise<Finding[]> {
  const [edit, title] = [await office.newAgent("edit", "edit"), await office.newAgent("title", "title")];
  await edit.files.putFile("edited.ts", textOf(0, 2000));
  await Promise.all([edit.turn(), title.turn()]);
  const [ours, log]: [number[], number[]] = [[], []];
  for (let round = 0; round < rounds; round++) {
    ours.push((await edit.turn()).ms / callsATurn);
    log.push((await title.turn()).ms / callsATurn);
  }
  edit.close();
  title.close();
  return [
    compareMedians("a step that edits a file / one that sets the title", ["writeFile", ours], ["set_title", log], 2),
  ];
}

/** A thousand new files as one version against as many files on a disk that is synced once. */
async function writing(office: Office): Promise<Finding[]> {
  const [ours, disk]: [number[], number[]] = [[], []];
  for (let round = 0; round < 3; round++) {
    const worker = await office.newAgent(`writer-${round}`);
    ours.push(await timed(() => fill(worker, 1000, 2000)));
    disk.push(await timed(async () => rm(await onDisk(1000, 2000), { recursive: true })));
  }
  return [
    compareMedians(
      "1,000 files written, ours / on disk",
      ["editFiles, 250 at a time", ours],
      ["written and synced", disk],
      2,
    ),
  ];
}

/** What the first look at a workspace takes after main died: what it was edited before must not matter. */
async function opening(office: Office): Promise<Finding[]> {
  const [few, many] = [await office.newAgent("few"), await office.newAgent("many")];
  for (const name of ["few-typed", "many-typed"]) await office.newAgent(name);
  await editOften(few, 100);
  await editOften(many, 10_000);
  await typeALot(office.house, "few-typed", 100);
  await typeALot(office.house, "many-typed", 10_000);
  const samples = { read: [[], []], edit: [[], []], join: [[], []], joinTyped: [[], []] } as Record<
    string,
    [number[], number[]]
  >;
  for (let round = 0; round < rounds; round++) {
    await office.restartMain();
    // Whoever comes first pays for what all share.
    await (await office.newAgent(`first-${round}`)).files.files();
    const pairs = round % 2 === 0 ? [0, 1] : [1, 0];
    for (const which of pairs) {
      const plain = which === 0 ? few : many;
      samples.read?.[which as 0 | 1].push(await timed(() => plain.files.file("edited.ts")));
      samples.edit?.[which as 0 | 1].push(
        await timed(() => plain.files.putFile("edited.ts", `${textOf(0, 20_000)}// ${round}\n`)),
      );
      samples.join?.[which as 0 | 1].push(await timed(() => untilSynced(office.house, which === 0 ? "few" : "many")));
      samples.joinTyped?.[which as 0 | 1].push(
        await timed(() => untilSynced(office.house, which === 0 ? "few-typed" : "many-typed")),
      );
    }
  }
  const names: Record<string, string> = {
    read: "first read",
    edit: "first edit",
    join: "first joining by Yjs",
    joinTyped: "first joining by Yjs, all edits typed by Yjs",
  };
  return Object.entries(samples).map(([key, [short, long]]) =>
    compareMedians(`${names[key]} after 10,000 edits / after 100`, ["after 10,000", long], ["after 100", short], 2),
  );
}

/** What main keeps of workspaces that were looked at and left. */
async function idle(office: Office): Promise<Finding[]> {
  const [agents, files, bytes] = [10, 1000, 4000];
  const [empty, full]: Worker[][] = [[], []];
  for (let number = 0; number < agents; number++) {
    empty?.push(await office.newAgent(`empty-${number}`));
    const worker = await office.newAgent(`full-${number}`);
    await fill(worker, files, bytes);
    full?.push(worker);
  }
  const measured = { empty: [] as number[], full: [] as number[] };
  for (let round = 0; round < 3; round++) {
    for (const [which, workers] of [
      ["empty", empty],
      ["full", full],
    ] as const) {
      const pid = await office.restartMain();
      for (const { files: handle } of workers ?? []) {
        await handle.files();
        await handle.putFile(pathOf(3), `round ${round}\n`);
      }
      measured[which].push(measureResidentMegabytes([pid]));
    }
  }
  const text = (agents * files * bytes) / 1024 / 1024;
  return [
    {
      what: `what ${agents} workspaces of ${files} files take in memory / their text (${Math.round(text)} MB)`,
      unit: "MB",
      samples: { "with files": measured.full, empty: measured.empty },
      figure: (getMedian(measured.full) - getMedian(measured.empty)) / text,
      goal: 3,
    },
  ];
}

async function editOften(worker: Worker, times: number): Promise<void> {
  const lines = textOf(0, 20_000).split("\n");
  for (let number = 0; number < times; number++) {
    lines[(number * 7919) % lines.length] = `const edited = ${number};`;
    await worker.files.putFile("edited.ts", lines.join("\n"));
  }
}

async function series<T>(times: number, work: () => Promise<T>): Promise<T[]> {
  const results: T[] = [];
  for (let number = 0; number < times; number++) results.push(await work());
  return results;
}

async function onDisk(count: number, bytes: number): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "bench-"));
  for (let number = 0; number < count; number++) {
    const path = join(folder, pathOf(number));
    await mkdir(dirname(path), { recursive: true });
    const file = await open(path, "w");
    await file.writeFile(textOf(number, bytes));
    if (number === count - 1) await file.sync();
    await file.close();
  }
  return folder;
}
