import { cliPath, createHomePath, startHostProcess, removeHome } from "../tests/kit/host-process.ts";
import { type Bench, type Finding, getMedian, compareMedians } from "./kit/bench.ts";
import { createDialer, createModelEnvironment, openHostSubject } from "./kit/host-subject.ts";
import { type ModelServer, startModelServer } from "./kit/model.ts";
import { measureResidentMegabytes } from "./kit/process.ts";
import { type Dial, type RunningSubject, AgentSocket } from "./kit/subject.ts";
import { createBareHello, measureTimeToFirst } from "./kit/time-to-first.ts";
import { lean } from "./turn/lean.ts";
import { ours } from "./turn/ours.ts";

const model = "zero-8";

export const agents: Bench = {
  name: "agents",
  about: "new agents, many agents, and agents with a long history",
  async run() {
    const server = await startModelServer();
    try {
      return [
        await measureNewAgent(server),
        await measureFirstTurn(server),
        await measureManyAgents(server),
        await measureLongHistory(server),
      ];
    } finally {
      await server.stop();
    }
  },
};

/** Compares the first turn of an agent, including the connection, with its second. */
async function measureNewAgent(server: ModelServer): Promise<Finding> {
  const { host, create, dial } = await openHostSubject(server.base);
  const fresh: number[] = [];
  const warm: number[] = [];
  for (let round = 0; round < 40; round++) {
    await create(`new-${round}`, model);
    const first = await runTurnOnNewSocket(dial, `new-${round}`);
    const second = await runTurnOnNewSocket(dial, `new-${round}`);
    // The first rounds include the warm-up of the host itself.
    if (round >= 10) {
      fresh.push(first);
      warm.push(second);
    }
  }
  await host.stop();
  return compareMedians("first turn / a warm one", ["a new agent's first turn", fresh], ["its second", warm], 2);
}

async function measureFirstTurn(server: ModelServer): Promise<Finding> {
  const hello = await createBareHello(5873);
  const home = await createHomePath();
  const args = ["--port", "5874"];
  const host = await startHostProcess({ home, args, env: createModelEnvironment(server.base) });
  await host.client.call("createAgent", {
    params: { agency: "global" },
    body: { name: "alice", model: `openai:${model}` },
  });
  const dial = createDialer(host);
  await host.stop();
  const env = { ...createModelEnvironment(server.base), THINKERY_HOME: home, PATH: process.env.PATH ?? "" };
  const bare: number[] = [];
  const turns: number[] = [];
  for (let round = 0; round < 9; round++) {
    bare.push(await hello.first());
    turns.push(
      await measureTimeToFirst(process.execPath, [cliPath, "start", "--foreground", ...args], env, () =>
        runTurnOnNewSocket(dial, "alice"),
      ),
    );
  }
  await hello.remove();
  await removeHome(home);
  return compareMedians(
    "first turn, ours / bare",
    ["the host, first turn done", turns],
    ["bare workerd, hello", bare],
    12,
  );
}

async function measureManyAgents(server: ModelServer): Promise<Finding> {
  const { host, create, dial, pids } = await openHostSubject(server.base);
  await create("nobody", model);
  await runTurnOnNewSocket(dial, "nobody");
  const before = measureResidentMegabytes(pids());
  let next = 0;
  const createSome = async () => {
    for (let number = next++; number < 1000; number = next++) {
      await create(`one-of-${number}`, model);
      await runTurnOnNewSocket(dial, `one-of-${number}`);
    }
  };
  await Promise.all(Array.from({ length: 8 }, createSome));
  const each = (measureResidentMegabytes(pids()) - before) / 1000;
  await host.stop();
  return { what: "an agent after one turn", unit: "MB", samples: { "each of 1,000": [each] }, figure: each, goal: 1 };
}

/**
 * Requests to the model grow with the history. The lean loop sends the same history, so its extra cost is subtracted.
 */
async function measureLongHistory(server: ModelServer): Promise<Finding> {
  const runs = [await ours.start(server.base, model), await lean.start(server.base, model)];
  const costs: Record<string, number[]>[] = [];
  for (const running of runs) {
    await runTurns(running, "old", 500);
    costs.push({ young: [], old: [] });
  }
  for (let round = 0; round < 30; round++) {
    for (const [index, running] of runs.entries()) {
      // A new agent each time, because every turn lengthens its history.
      await runTurns(running, `young-${round}`, 5);
      costs[index]?.young?.push(await measureMs(() => running.turn(`young-${round}`)));
      costs[index]?.old?.push(await measureMs(() => running.turn("old")));
    }
  }
  await Promise.all(runs.map((running) => running.stop()));
  const [host, bare] = costs.map(({ young = [], old = [] }) => ({ young: getMedian(young), old: getMedian(old) }));
  const sending = bare ? Math.max(0, bare.old - bare.young) : NaN;
  return {
    what: "a long history / a short one",
    unit: "ms",
    samples: {
      "ours, 20 messages": costs[0]?.young ?? [],
      "ours, 2,000 messages": costs[0]?.old ?? [],
      "lean, 20 messages": costs[1]?.young ?? [],
      "lean, 2,000 messages": costs[1]?.old ?? [],
    },
    figure: host ? (host.old - sending) / host.young : NaN,
    goal: 1.5,
  };
}

async function runTurns(running: RunningSubject, agent: string, turns: number): Promise<void> {
  for (let turn = 0; turn < turns; turn++) await running.turn(agent);
}

const runTurnOnNewSocket = (dial: Dial, agent: string) =>
  measureMs(async () => {
    const socket = await AgentSocket.open(dial(agent));
    await socket.runTurn();
    socket.close();
  });

async function measureMs(work: () => Promise<void>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}
