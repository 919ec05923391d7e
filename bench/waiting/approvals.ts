import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { AgentEvent } from "@thinkery/sdk";
import { createHomePath, type HostProcess, removeHome, startHostProcess } from "../../tests/kit/host-process.ts";
import { findMain } from "../../tests/kit/processes.ts";
import { waitUntil } from "../../tests/kit/wait-until.ts";
import { compareMedians, type Finding, getMedian } from "../kit/bench.ts";
import { measureResidentMegabytes } from "../kit/process.ts";
import { forEachConcurrently } from "./for-each-concurrently.ts";

/** Agents whose memory is measured. `AGENTS=50 npm run bench -- waiting` for a quick look. */
const agentCount = Number(process.env.AGENTS ?? 1000);
const samplesPerRound = 30;
const agency = "global";

const todos = { tool: "write_todos", input: { todos: [{ content: "one", status: "pending" }] } };
const script = [{ when: "work", steps: [{ call: todos }, { text: "Done." }] }, { steps: [{ text: "Hello." }] }];

/** Compares the time from an approval to the start of its call with the time from a message to a call that needs none. */
export async function measureApprovals(rounds: number): Promise<Finding> {
  const [approved, plain]: [number[], number[]] = [[], []];
  await useHost(async (host) => {
    await createBlueprints(host);
    await host.client.call("createAgent", { params: { agency }, body: { name: "careful", blueprint: "careful" } });
    await host.client.call("createAgent", { params: { agency }, body: { name: "free", blueprint: "free" } });
    for (let sample = 0; sample < rounds * samplesPerRound; sample++) {
      approved.push(await measureApproval(host));
      plain.push(await measurePlain(host));
    }
  });
  const skipped = samplesPerRound / 3;
  return compareMedians(
    "approval to its call / message to a call that needs none",
    ["approval", approved.slice(skipped)],
    ["message", plain.slice(skipped)],
    1.5,
  );
}

/** Compares the memory of agents that wait for approval with that of agents whose turn is over. */
export async function measurePausedMemory(): Promise<Finding> {
  const measure = (blueprint: string, isDone: (status: string) => boolean) =>
    useHost(async (host) => {
      await createBlueprints(host);
      const names = Array.from({ length: agentCount }, (_, index) => `${blueprint}-${index}`);
      await forEachConcurrently(names, async (name) => {
        await host.client.call("createAgent", { params: { agency }, body: { name, blueprint } });
        await host.client.call("invoke", { params: { agency, agent: name }, body: { message: "work" } });
        await waitUntil(name, async () => isDone((await host.client.agent(name).state()).run.status));
      });
      return measureResidentMegabytes([findMain(host.home)?.pid ?? 0]);
    });
  const idle = await measure("free", (status) => status === "completed");
  const paused = await measure("careful", (status) => status === "paused");
  return {
    what: `memory of ${agentCount} agents that wait for approval / that are idle`,
    unit: "MB",
    samples: { paused: [paused], idle: [idle] },
    figure: getMedian([paused]) / getMedian([idle]),
    goal: 1.1,
  };
}

async function useHost<T>(work: (host: HostProcess) => Promise<T>): Promise<T> {
  const home = await createHomePath();
  await mkdir(join(home, "scripts"), { recursive: true, mode: 0o700 });
  await writeFile(join(home, "scripts", "worker.yaml"), JSON.stringify(script));
  const host = await startHostProcess({ home });
  try {
    return await work(host);
  } finally {
    await host.stop();
    await removeHome(home);
  }
}

async function createBlueprints({ client }: HostProcess): Promise<void> {
  const model = "scripted:worker";
  await client.call("putBlueprint", { params: { agency }, body: { name: "free", model } });
  const config = { hitl: { tools: ["write_todos"] } };
  await client.call("putBlueprint", { params: { agency }, body: { name: "careful", model, config } });
}

async function measureApproval(host: HostProcess): Promise<number> {
  const { client } = host;
  const agent = client.agent("careful");
  const { runId } = await client.call("invoke", { params: { agency, agent: "careful" }, body: { message: "work" } });
  await waitUntil("the pause", async () => (await agent.state()).run.status === "paused", { intervalMs: 2 });
  const sentAt = Date.now();
  await agent.approve({ approved: true });
  return (await findStart(host, "careful", runId)) - sentAt;
}

async function measurePlain(host: HostProcess): Promise<number> {
  const sentAt = Date.now();
  const { runId } = await host.client.call("invoke", { params: { agency, agent: "free" }, body: { message: "work" } });
  return (await findStart(host, "free", runId)) - sentAt;
}

/** Returns when the call of a turn started, after the turn is over. */
async function findStart({ client }: HostProcess, name: string, runId: string): Promise<number> {
  const agent = client.agent(name);
  const isOver = async () => {
    const { run } = await agent.state();
    return run.runId === runId && run.status === "completed";
  };
  await waitUntil("the end", isOver, { intervalMs: 2 });
  const { events } = await client.call("listEvents", { params: { agency, agent: name }, query: { limit: 1000 } });
  const start = await findLast(client, name, events, runId);
  return Date.parse(start?.ts ?? "");
}

async function findLast(
  client: HostProcess["client"],
  agent: string,
  first: AgentEvent[],
  runId: string,
): Promise<AgentEvent | undefined> {
  let events = first;
  for (;;) {
    const found = events.findLast(({ type, data }) => type === "tool.started" && data.runId === runId);
    const after = events.at(-1)?.seq;
    if (found || after === undefined) return found;
    ({ events } = await client.call("listEvents", { params: { agency, agent }, query: { after, limit: 1000 } }));
  }
}
