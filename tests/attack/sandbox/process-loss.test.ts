import { readFile } from "node:fs/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { isAlive, findHomeProcesses } from "../../kit/processes.ts";
import { getRepeatCount } from "../../kit/sample.ts";
import { waitUntil } from "../../kit/wait-until.ts";
import type { TestAgent } from "../../kit/worker/testbed.ts";
import { findCodeResult, type CodeTestbed, openCodeTestbed } from "./code-testbed.ts";

// Processes that are killed, and agents that are deleted, in the middle of a run.

let testbed: CodeTestbed;

beforeAll(async () => {
  testbed = await openCodeTestbed({
    slots: 4,
    sandbox: { timeoutSeconds: 60, maxTimeoutSeconds: 60, stallTimeoutSeconds: 60, memoryMb: 64 },
  });
});

afterAll(() => testbed?.stop());

interface Slot {
  name: string;
  agent?: string;
  memoryBytes?: number;
}

/** Twice the heap limit plus the process around it; a memory bomb takes more. */
const maxKeptBytes = 2 * (64 + 96) * 1024 * 1024;

const listSlots = async (): Promise<Slot[]> => (await testbed.api("/health")).body.sandboxes;

/** The innermost process of a slot. */
async function findSlotProcess({ name }: Slot): Promise<number> {
  const inside = new RegExp(`^\\S*workerd serve \\S*/${name}\\.capnp`);
  return waitUntil(
    `the process of ${name}`,
    () => findHomeProcesses(testbed.home).find(({ command }) => inside.test(command))?.pid,
  );
}

/** Starts a run and waits for its first capability call. */
async function startRun(agent: TestAgent, code: string): Promise<{ runId: string; slot: Slot }> {
  const { runId } = await agent.invoke({ message: `await echo("begun"); ${code}` });
  await agent.waitForEvent("the run", ({ type, data }) => type === "capability.answered" && data.runId === runId);
  const slot = await waitUntil("its slot", async () =>
    (await listSlots()).find((slot) => slot.agent === `global~${agent.name}`),
  );
  return { runId, slot };
}

/** CPU ticks used by a process. */
const readCpuTicks = async (pid: number) => {
  const fields = (await readFile(`/proc/${pid}/stat`, "utf8")).split(") ").at(-1)?.split(" ") ?? [];
  return Number(fields[11]) + Number(fields[12]);
};

const runners = getRepeatCount("runners", { sample: 8, full: 20 });
const runsEach = 5;

test(`${runners * runsEach} concurrent runs of ${runners} agents all complete, in order for each agent`, async () => {
  const agents = await Promise.all(Array.from({ length: runners }, () => testbed.newCodeAgent()));
  const runIds = await Promise.all(
    agents.map(async (agent, index) => {
      const runs: string[] = [];
      for (let number = 0; number < runsEach; number++)
        runs.push((await agent.invoke({ message: `return "${index}-${number}"` })).runId);
      return runs;
    }),
  );
  for (const [index, agent] of agents.entries()) {
    await agent.waitForEnd(runIds[index]?.at(-1) ?? "", 60_000);
    const log = await agent.log();
    const outputs = log.flatMap(({ type, data }) => (type === "tool.output" ? [[data.runId, data.output]] : []));
    expect(outputs).toEqual(runIds[index]?.map((runId, number) => [runId, `${index}-${number}`]));
    expect(log.filter(({ type }) => type === "tool.error" || type === "agent.error")).toEqual([]);
  }
  await waitUntil("no waiting runs", async () => (await testbed.api("/health")).body.waitingRuns === 0);
}, 90_000);

test.for([
  "for (;;);",
  "await new Promise((resolve) => setTimeout(resolve, 60_000));",
  "for (;;) await echo(1).catch(() => {});",
])("killing a slot's process under “%s” loses only the run", async (code) => {
  const agent = await testbed.newCodeAgent();
  const { runId, slot } = await startRun(agent, code);
  process.kill(await findSlotProcess(slot), "SIGKILL");
  expect((await agent.waitForEnd(runId)).type).toBe("agent.completed");
  expect(findCodeResult(await agent.log()).kind).toBe("sandbox_lost");
  expect((await agent.messages()).at(-1)).toMatchObject({ role: "assistant", content: "Continued." });
  expect(await testbed.run(agent, "return 'again'")).toMatchObject({ kind: "ok", text: "again" });
});

test("memory of a run that used it up is available to the next", async () => {
  const agent = await testbed.newCodeAgent();
  const hasHighMemory = async () => (await listSlots()).some(({ memoryBytes = 0 }) => memoryBytes > maxKeptBytes);
  for (const bomb of [
    "new Uint8Array(64 * 1024 * 1024).fill(1)",
    "new SharedArrayBuffer(64 * 1024 * 1024)",
    "new Blob([new Uint8Array(32 * 1024 * 1024)])",
  ]) {
    expect((await testbed.run(agent, `const all = []; for (;;) all.push(${bomb});`)).kind).toMatch(/^(?:threw|limit)$/);
    for (let number = 0; number < 3; number++)
      expect(await testbed.run(agent, `return ${number}`)).toMatchObject({ kind: "ok", text: String(number) });
    await waitUntil("the memory to be released", async () => !(await hasHighMemory()));
  }
});

test("deleting an agent ends its run and frees the slot", async () => {
  for (const code of ["for (;;);", "await new Promise((resolve) => setTimeout(resolve, 60_000));"]) {
    const agent = await testbed.newCodeAgent();
    const { slot } = await startRun(agent, code);
    const pid = await findSlotProcess(slot);
    expect((await testbed.api(agent.at, "DELETE")).status).toBe(204);
    await waitUntil("its process to be gone", () => !isAlive(pid));
    await waitUntil("the slot to be free", async () =>
      (await listSlots()).every(({ agent: holder }) => holder !== `global~${agent.name}`),
    );
    // All slots are available to others.
    const others = await Promise.all(Array.from({ length: 4 }, () => testbed.newCodeAgent()));
    const outcomes = await Promise.all(
      others.map((other) => testbed.run(other, "await new Promise((resolve) => setTimeout(resolve, 100)); return 1")),
    );
    expect(outcomes.map(({ kind }) => kind)).toEqual(["ok", "ok", "ok", "ok"]);
  }
});

test("killing main while code spins ends the code, and every call in the log is answered", async () => {
  const agent = await testbed.newCodeAgent();
  const { runId, slot } = await startRun(
    agent,
    "tools.hang({}).catch(() => {}); tools.wait({ ms: 60_000 }).catch(() => {}); await new Promise((resolve) => setTimeout(resolve, 50)); for (;;);",
  );
  const pid = await findSlotProcess(slot);
  await waitUntil("the spin", async () => (await readCpuTicks(pid)) > 30);
  await testbed.restartMain();
  await waitUntil("the spinning process to be gone", () => !isAlive(pid));
  expect((await agent.waitForEnd(runId)).type).toBe("agent.completed");
  const log = await agent.log();
  expect(findCodeResult(log).kind).toBe("outcome_unknown");
  const called = log.flatMap(({ type, data }) => (type === "capability.called" ? [data.callId] : []));
  const answered = log.flatMap(({ type, data }) => (type === "capability.answered" ? [data.callId] : []));
  expect(called).toHaveLength(3);
  expect(answered.toSorted()).toEqual(called.toSorted());
  // The host's processes are idle.
  const readAllTicks = async () =>
    Promise.all(findHomeProcesses(testbed.home).map(({ pid }) => readCpuTicks(pid).catch(() => 0)));
  await waitUntil("the host to be quiet", async () => {
    const before = await readAllTicks();
    await new Promise((resolve) => setTimeout(resolve, 300));
    const after = await readAllTicks();
    return before.length === after.length && after.every((ticks, index) => ticks - (before[index] ?? 0) < 10);
  });
  expect(await testbed.run(agent, "return 'again'")).toMatchObject({ kind: "ok", text: "again" });
});
