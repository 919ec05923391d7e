import { readFile } from "node:fs/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { isAlive, findHomeProcesses } from "../../kit/processes.ts";
import { getRepeatCount } from "../../kit/sample.ts";
import { waitUntil } from "../../kit/wait-until.ts";
import type { TestAgent } from "../../kit/worker/testbed.ts";
import { findCodeResult, type CodeTestbed, openCodeTestbed } from "./code-testbed.ts";

// Processes that die, and agents that go away, in the middle of a run.

let coders: CodeTestbed;

beforeAll(async () => {
  coders = await openCodeTestbed({
    slots: 4,
    sandbox: { timeoutSeconds: 60, maxTimeoutSeconds: 60, stallTimeoutSeconds: 60, memoryMb: 64 },
  });
});

afterAll(() => coders?.stop());

interface Slot {
  name: string;
  agent?: string;
  memoryBytes?: number;
}

/** The heap that code may have, and a process around it, twice; a bomb takes more than that. */
const maxKeptBytes = 2 * (64 + 96) * 1024 * 1024;

const listSlots = async (): Promise<Slot[]> => (await coders.api("/health")).body.sandboxes;

/** The process inside all the walls of a slot. */
async function findSlotProcess({ name }: Slot): Promise<number> {
  const inside = new RegExp(`^\\S*workerd serve \\S*/run/${name}\\.capnp`);
  return waitUntil(
    `the process of ${name}`,
    () => findHomeProcesses(coders.home).find(({ command }) => inside.test(command))?.pid,
  );
}

/** Has the code begin, and waits until it has called something. */
async function startRun(agent: TestAgent, code: string): Promise<{ runId: string; slot: Slot }> {
  const { runId } = await agent.invoke({ message: `await echo("begun"); ${code}` });
  await agent.seen("the run", ({ type, data }) => type === "capability.answered" && data.runId === runId);
  const slot = await waitUntil("its slot", async () =>
    (await listSlots()).find((slot) => slot.agent === `global~${agent.name}`),
  );
  return { runId, slot };
}

/** Ticks of the processor that a process has had. */
const readCpuTicks = async (pid: number) => {
  const fields = (await readFile(`/proc/${pid}/stat`, "utf8")).split(") ").at(-1)?.split(" ") ?? [];
  return Number(fields[11]) + Number(fields[12]);
};

const runners = getRepeatCount("runners", { sample: 8, full: 20 });
const runsEach = 5;

test(`${runners * runsEach} concurrent runs of ${runners} agents all complete, each agent's in the order it asked`, async () => {
  const agents = await Promise.all(Array.from({ length: runners }, () => coders.newCoder()));
  const asked = await Promise.all(
    agents.map(async (agent, index) => {
      const runs: string[] = [];
      for (let number = 0; number < runsEach; number++)
        runs.push((await agent.invoke({ message: `return "${index}-${number}"` })).runId);
      return runs;
    }),
  );
  for (const [index, agent] of agents.entries()) {
    await agent.over(asked[index]?.at(-1) ?? "", 60_000);
    const log = await agent.log();
    const outputs = log.flatMap(({ type, data }) => (type === "tool.output" ? [[data.runId, data.output]] : []));
    expect(outputs).toEqual(asked[index]?.map((runId, number) => [runId, `${index}-${number}`]));
    expect(log.filter(({ type }) => type === "tool.error" || type === "agent.error")).toEqual([]);
  }
  await waitUntil("nobody to wait", async () => (await coders.api("/health")).body.waitingRuns === 0);
}, 90_000);

test.for([
  "for (;;);",
  "await new Promise((resolve) => setTimeout(resolve, 60_000));",
  "for (;;) await echo(1).catch(() => {});",
])("a slot that is killed under “%s” loses the run and nothing else", async (code) => {
  const agent = await coders.newCoder();
  const { runId, slot } = await startRun(agent, code);
  process.kill(await findSlotProcess(slot), "SIGKILL");
  expect((await agent.over(runId)).type).toBe("agent.completed");
  expect(findCodeResult(await agent.log()).kind).toBe("sandbox_lost");
  expect((await agent.messages()).at(-1)).toMatchObject({ role: "assistant", content: "Went on." });
  expect(await coders.run(agent, "return 'again'")).toMatchObject({ kind: "ok", text: "again" });
});

test("a run that took all the memory leaves it to the next", async () => {
  const agent = await coders.newCoder();
  const isSwollen = async () => (await listSlots()).some(({ memoryBytes = 0 }) => memoryBytes > maxKeptBytes);
  for (const bomb of [
    "new Uint8Array(64 * 1024 * 1024).fill(1)",
    "new SharedArrayBuffer(64 * 1024 * 1024)",
    "new Blob([new Uint8Array(32 * 1024 * 1024)])",
  ]) {
    expect((await coders.run(agent, `const all = []; for (;;) all.push(${bomb});`)).kind).toMatch(/^(?:threw|limit)$/);
    for (let number = 0; number < 3; number++)
      expect(await coders.run(agent, `return ${number}`)).toMatchObject({ kind: "ok", text: String(number) });
    await waitUntil("the memory to be given back", async () => !(await isSwollen()));
  }
});

test("what runs in a slot ends when its agent is deleted, and the slot comes back", async () => {
  for (const code of ["for (;;);", "await new Promise((resolve) => setTimeout(resolve, 60_000));"]) {
    const agent = await coders.newCoder();
    const { slot } = await startRun(agent, code);
    const pid = await findSlotProcess(slot);
    expect((await coders.api(agent.at, "DELETE")).status).toBe(204);
    await waitUntil("its process to be gone", () => !isAlive(pid));
    await waitUntil("the slot to come back", async () =>
      (await listSlots()).every(({ agent: holder }) => holder !== `global~${agent.name}`),
    );
    // All slots are there for others.
    const others = await Promise.all(Array.from({ length: 4 }, () => coders.newCoder()));
    const outcomes = await Promise.all(
      others.map((other) => coders.run(other, "await new Promise((resolve) => setTimeout(resolve, 100)); return 1")),
    );
    expect(outcomes.map(({ kind }) => kind)).toEqual(["ok", "ok", "ok", "ok"]);
  }
});

test("main is killed while code spins: nothing spins on, and the log has an answer for everything", async () => {
  const agent = await coders.newCoder();
  const { runId, slot } = await startRun(
    agent,
    "tools.hang({}).catch(() => {}); tools.wait({ ms: 60_000 }).catch(() => {}); await new Promise((resolve) => setTimeout(resolve, 50)); for (;;);",
  );
  const pid = await findSlotProcess(slot);
  await waitUntil("the spin", async () => (await readCpuTicks(pid)) > 30);
  await coders.restartMain();
  await waitUntil("the spinning process to be gone", () => !isAlive(pid));
  expect((await agent.over(runId)).type).toBe("agent.completed");
  const log = await agent.log();
  expect(findCodeResult(log).kind).toBe("outcome_unknown");
  const called = log.flatMap(({ type, data }) => (type === "capability.called" ? [data.callId] : []));
  const answered = log.flatMap(({ type, data }) => (type === "capability.answered" ? [data.callId] : []));
  expect(called).toHaveLength(3);
  expect(answered.toSorted()).toEqual(called.toSorted());
  // Nobody of this host works any more.
  const busy = async () =>
    Promise.all(findHomeProcesses(coders.home).map(({ pid }) => readCpuTicks(pid).catch(() => 0)));
  await waitUntil("the host to be quiet", async () => {
    const before = await busy();
    await new Promise((resolve) => setTimeout(resolve, 300));
    const after = await busy();
    return before.length === after.length && after.every((now, index) => now - (before[index] ?? 0) < 10);
  });
  expect(await coders.run(agent, "return 'again'")).toMatchObject({ kind: "ok", text: "again" });
});
