import { setTimeout as sleep } from "node:timers/promises";
import { createHomePath, type HostProcess, removeHome, startHostProcess } from "../../tests/kit/host-process.ts";
import { waitUntil } from "../../tests/kit/wait-until.ts";
import { compareMedians, type Finding } from "../kit/bench.ts";
import { createModelEnvironment } from "../kit/host-subject.ts";
import type { ModelServer } from "../kit/model.ts";
import { forEachConcurrently } from "./for-each-concurrently.ts";

const model = "openai:zero-8";
/** The model first calls a tool. */
const callsPerTurn = 2;
const input = "Say one word.";
/** Agents per round. `AGENTS=50 npm run bench -- waiting` for a quick look. */
const agentCount = Number(process.env.AGENTS ?? 1000);
/** For the host to stop and start again before the schedules are due. */
const restartSeconds = 15;

/**
 * Compares schedules that are all due at the same time with messages to as many agents, sent as fast as a client can.
 * Nobody has used either since the host started. Measures the time until the last model call.
 */
export async function measureSchedules(server: ModelServer, rounds: number): Promise<Finding> {
  const [scheduled, sent]: [number[], number[]] = [[], []];
  for (let round = 0; round < rounds; round++) {
    scheduled.push(await measureRound(server, runSchedules));
    sent.push(await measureRound(server, sendMessages));
  }
  const title = `${agentCount} schedules due at once / as many messages`;
  return compareMedians(title, ["schedules", scheduled], ["messages", sent], 1.2);
}

type Round = (host: HostProcess, agents: string[], restart: () => Promise<HostProcess>) => Promise<number>;

/** Returns the time from the start that the round reports to the last call of the model. */
async function measureRound(server: ModelServer, run: Round): Promise<number> {
  const home = await createHomePath();
  const open = () => startHostProcess({ home, env: createModelEnvironment(server.base) });
  let host = await open();
  try {
    const agents = Array.from({ length: agentCount }, (_, index) => `cold-${index}`);
    await forEachConcurrently(agents, (name) =>
      host.client.call("createAgent", { params: { agency: "global" }, body: { name, model } }),
    );
    await server.reset();
    const startedAt = await run(host, agents, async () => {
      await host.stop();
      return (host = await open());
    });
    const arrivals = await waitUntil(
      "all agents to call the model",
      async () => {
        const stats = await server.stats();
        return stats.calls >= agentCount * callsPerTurn && stats.arrivals;
      },
      { timeoutMs: 120_000 },
    );
    return Math.max(...arrivals) - startedAt;
  } finally {
    await host.stop();
    await removeHome(home);
  }
}

async function runSchedules(host: HostProcess, agents: string[], restart: () => Promise<HostProcess>): Promise<number> {
  const perAgentMs = 20;
  const dueAt = Math.ceil((Date.now() + restartSeconds * 1000 + agents.length * perAgentMs) / 1000) * 1000;
  const when = new Date(dueAt).toISOString();
  await forEachConcurrently(agents, (agent) => host.client.agent(agent).schedules().create({ when, input }));
  await restart();
  if (Date.now() > dueAt) throw new Error("The host was restarted too late. This machine is too slow or too busy.");
  await sleep(dueAt - Date.now());
  return dueAt;
}

async function sendMessages(_: HostProcess, agents: string[], restart: () => Promise<HostProcess>): Promise<number> {
  const { client } = await restart();
  const startedAt = Date.now();
  await forEachConcurrently(agents, (agent) =>
    client.call("invoke", { params: { agency: "global", agent }, body: { message: input } }),
  );
  return startedAt;
}
