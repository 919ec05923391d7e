import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, open, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type Bench, type Finding, getMedian, compareMedians } from "./kit/bench.ts";
import { measureResidentMegabytes } from "./kit/process.ts";
import {
  callsPerTurn,
  createPath,
  createText,
  openWorkspaceTestbed,
  type Worker,
  type WorkspaceTestbed,
  writeFiles,
} from "./workspace/testbed.ts";
import { connectAndSync, typeEdits } from "./workspace/typist.ts";

const rounds = 9;
const pipe = "cat src/*/*.ts | grep needle | wc -l";
const search = "grep -rl needle src | wc -l";

const computeMean = (samples: number[]) => samples.reduce((sum, sample) => sum + sample, 0) / samples.length;

async function measureMs(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}

export const workspace: Bench = {
  name: "workspace",
  about:
    "files of an agent on a whole host: writing, editing, opening after many edits, searching by shell, memory when idle",
  async run() {
    const testbed = await openWorkspaceTestbed({
      pipe: { tool: "bash", input: (number) => ({ command: `${pipe} # ${number}` }) },
      search: { tool: "bash", input: (number) => ({ command: `${search} # ${number}` }) },
      edit: {
        before: { tool: "readFile", input: { path: "edited.ts" } },
        tool: "writeFile",
        input: (number) => ({ path: "edited.ts", content: `${createText(0, 2000)}// ${number}\n` }),
      },
      title: { tool: "set_title", input: (number) => ({ title: `Title ${number}` }) },
    });
    try {
      return [
        ...(await measureShell(testbed)),
        ...(await measureEdits(testbed)),
        ...(await measureWrites(testbed)),
        ...(await measureOpening(testbed)),
        ...(await measureIdleMemory(testbed)),
      ];
    } finally {
      await testbed.stop();
    }
  },
};

/** Compares shell commands of an agent with the same commands in a real shell on disk, including its start. */
async function measureShell(testbed: WorkspaceTestbed): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const [job, command, files, goal] of [
    ["pipe", pipe, 200, 2],
    ["search", search, 2000, 10],
  ] as const) {
    const worker = await testbed.newAgent(job, job);
    await writeFiles(worker, files, 2000);
    const folder = await createFilesOnDisk(files, 2000);
    await worker.turn();
    const [ours, real]: [number[], number[]] = [[], []];
    for (let round = 0; round < rounds; round++) {
      ours.push(computeMean((await worker.turn()).calls));
      real.push(
        computeMean(
          await repeat(callsPerTurn, () =>
            measureMs(() => once(spawn("bash", ["-c", command], { cwd: folder, stdio: "ignore" }), "exit")),
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

/** Compares a call that writes a file with one that only writes the log. */
async function measureEdits(testbed: WorkspaceTestbed): Promise<Finding[]> {
  const [edit, title] = [await testbed.newAgent("edit", "edit"), await testbed.newAgent("title", "title")];
  await edit.files.putFile("edited.ts", createText(0, 2000));
  await Promise.all([edit.turn(), title.turn()]);
  const [ours, log]: [number[], number[]] = [[], []];
  for (let round = 0; round < rounds; round++) {
    ours.push((await edit.turn()).ms / callsPerTurn);
    log.push((await title.turn()).ms / callsPerTurn);
  }
  edit.close();
  title.close();
  return [
    compareMedians("a step that edits a file / one that sets the title", ["writeFile", ours], ["set_title", log], 2),
  ];
}

/** Compares writing a thousand files with writing them to disk and syncing once. */
async function measureWrites(testbed: WorkspaceTestbed): Promise<Finding[]> {
  const [ours, disk]: [number[], number[]] = [[], []];
  for (let round = 0; round < 3; round++) {
    const worker = await testbed.newAgent(`writer-${round}`);
    ours.push(await measureMs(() => writeFiles(worker, 1000, 2000)));
    disk.push(await measureMs(async () => rm(await createFilesOnDisk(1000, 2000), { recursive: true })));
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

/**
 * Measures the first access to a workspace after a restart of main, which must not depend on the number of past edits.
 */
async function measureOpening(testbed: WorkspaceTestbed): Promise<Finding[]> {
  const [few, many] = [await testbed.newAgent("few"), await testbed.newAgent("many")];
  for (const name of ["few-typed", "many-typed"]) await testbed.newAgent(name);
  await editRepeatedly(few, 100);
  await editRepeatedly(many, 10_000);
  await typeEdits(testbed.host, "few-typed", 100);
  await typeEdits(testbed.host, "many-typed", 10_000);
  const samples = { read: [[], []], edit: [[], []], join: [[], []], joinTyped: [[], []] } as Record<
    string,
    [number[], number[]]
  >;
  for (let round = 0; round < rounds; round++) {
    await testbed.restartMain();
    // The first access includes one-time work that all share.
    await (await testbed.newAgent(`first-${round}`)).files.files();
    const pairs = round % 2 === 0 ? [0, 1] : [1, 0];
    for (const which of pairs) {
      const plain = which === 0 ? few : many;
      samples.read?.[which as 0 | 1].push(await measureMs(() => plain.files.file("edited.ts")));
      samples.edit?.[which as 0 | 1].push(
        await measureMs(() => plain.files.putFile("edited.ts", `${createText(0, 20_000)}// ${round}\n`)),
      );
      samples.join?.[which as 0 | 1].push(
        await measureMs(() => connectAndSync(testbed.host, which === 0 ? "few" : "many")),
      );
      samples.joinTyped?.[which as 0 | 1].push(
        await measureMs(() => connectAndSync(testbed.host, which === 0 ? "few-typed" : "many-typed")),
      );
    }
  }
  const names: Record<string, string> = {
    read: "first read",
    edit: "first edit",
    join: "first Yjs connection",
    joinTyped: "first Yjs connection, all edits made through Yjs",
  };
  return Object.entries(samples).map(([key, [short, long]]) =>
    compareMedians(`${names[key]} after 10,000 edits / after 100`, ["after 10,000", long], ["after 100", short], 2),
  );
}

/** Measures the memory that main uses for workspaces after they were accessed. */
async function measureIdleMemory(testbed: WorkspaceTestbed): Promise<Finding[]> {
  const [agents, files, bytes] = [10, 1000, 4000];
  const [empty, full]: Worker[][] = [[], []];
  for (let number = 0; number < agents; number++) {
    empty?.push(await testbed.newAgent(`empty-${number}`));
    const worker = await testbed.newAgent(`full-${number}`);
    await writeFiles(worker, files, bytes);
    full?.push(worker);
  }
  const measured = { empty: [] as number[], full: [] as number[] };
  for (let round = 0; round < 3; round++) {
    for (const [which, workers] of [
      ["empty", empty],
      ["full", full],
    ] as const) {
      const pid = await testbed.restartMain();
      for (const { files: handle } of workers ?? []) {
        await handle.files();
        await handle.putFile(createPath(3), `round ${round}\n`);
      }
      measured[which].push(measureResidentMegabytes([pid]));
    }
  }
  const text = (agents * files * bytes) / 1024 / 1024;
  return [
    {
      what: `memory of ${agents} workspaces of ${files} files / their text (${Math.round(text)} MB)`,
      unit: "MB",
      samples: { "with files": measured.full, empty: measured.empty },
      figure: (getMedian(measured.full) - getMedian(measured.empty)) / text,
      goal: 3,
    },
  ];
}

async function editRepeatedly(worker: Worker, times: number): Promise<void> {
  const lines = createText(0, 20_000).split("\n");
  for (let number = 0; number < times; number++) {
    lines[(number * 7919) % lines.length] = `const edited = ${number};`;
    await worker.files.putFile("edited.ts", lines.join("\n"));
  }
}

async function repeat<T>(times: number, work: () => Promise<T>): Promise<T[]> {
  const results: T[] = [];
  for (let number = 0; number < times; number++) results.push(await work());
  return results;
}

async function createFilesOnDisk(count: number, bytes: number): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "bench-"));
  for (let number = 0; number < count; number++) {
    const path = join(folder, createPath(number));
    await mkdir(dirname(path), { recursive: true });
    const file = await open(path, "w");
    await file.writeFile(createText(number, bytes));
    if (number === count - 1) await file.sync();
    await file.close();
  }
  return folder;
}
