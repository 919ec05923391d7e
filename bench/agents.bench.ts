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
  about: "new agents, many agents, and agents with a long past",
  async run() {
    const server = await startModelServer();
    try {
      return [await newAgent(server), await firstTurn(server), await thousand(server), await longPast(server)];
    } finally {
      await server.stop();
    }
  },
};

/** Both open a socket and take a turn; one has never done so. */
async function newAgent(server: ModelServer): Promise<Finding> {
  const { house, create, dial } = await openHostSubject(server.base);
  const fresh: number[] = [];
  const warm: number[] = [];
  for (let round = 0; round < 40; round++) {
    await create(`new-${round}`, model);
    const first = await visit(dial, `new-${round}`);
    const second = await visit(dial, `new-${round}`);
    // What the host itself does for the first time belongs to neither.
    if (round >= 10) {
      fresh.push(first);
      warm.push(second);
    }
  }
  await house.stop();
  return compareMedians("first turn / a warm one", ["a new agent's first turn", fresh], ["its second", warm], 2);
}

async function firstTurn(server: ModelServer): Promise<Finding> {
  const hello = await createBareHello(5873);
  const home = await createHomePath();
  const args = ["--port", "5874"];
  const house = await startHostProcess({ home, args, env: createModelEnvironment(server.base) });
  await house.client.call("createAgent", {
    params: { agency: "global" },
    body: { name: "alice", model: `openai:${model}` },
  });
  const dial = createDialer(house);
  await house.stop();
  const env = { ...createModelEnvironment(server.base), THINKERY_HOME: home, PATH: process.env.PATH ?? "" };
  const bare: number[] = [];
  const turns: number[] = [];
  for (let round = 0; round < 9; round++) {
    bare.push(await hello.first());
    turns.push(
      await measureTimeToFirst(process.execPath, [cliPath, "start", "--foreground", ...args], env, () =>
        visit(dial, "alice"),
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

async function thousand(server: ModelServer): Promise<Finding> {
  const { house, create, dial, pids } = await openHostSubject(server.base);
  await create("nobody", model);
  await visit(dial, "nobody");
  const before = measureResidentMegabytes(pids());
  let next = 0;
  const some = async () => {
    for (let number = next++; number < 1000; number = next++) {
      await create(`one-of-${number}`, model);
      await visit(dial, `one-of-${number}`);
    }
  };
  await Promise.all(Array.from({ length: 8 }, some));
  const each = (measureResidentMegabytes(pids()) - before) / 1000;
  await house.stop();
  return { what: "an agent after one turn", unit: "MB", samples: { "each of 1,000": [each] }, figure: each, goal: 1 };
}

/** What the model is sent grows with the past. The lean loop sends the same, and what that costs it is taken off. */
async function longPast(server: ModelServer): Promise<Finding> {
  const runs = [await ours.start(server.base, model), await lean.start(server.base, model)];
  const costs: Record<string, number[]>[] = [];
  for (const running of runs) {
    await live(running, "old", 500);
    costs.push({ young: [], old: [] });
  }
  for (let round = 0; round < 30; round++) {
    for (const [index, running] of runs.entries()) {
      // A new one each time, because a turn makes it older.
      await live(running, `young-${round}`, 5);
      costs[index]?.young?.push(await timed(() => running.turn(`young-${round}`)));
      costs[index]?.old?.push(await timed(() => running.turn("old")));
    }
  }
  await Promise.all(runs.map((running) => running.stop()));
  const [mine, bare] = costs.map(({ young = [], old = [] }) => ({ young: getMedian(young), old: getMedian(old) }));
  const sending = bare ? Math.max(0, bare.old - bare.young) : NaN;
  return {
    what: "a long past / a short one",
    unit: "ms",
    samples: {
      "ours, 20 messages": costs[0]?.young ?? [],
      "ours, 2,000 messages": costs[0]?.old ?? [],
      "lean, 20 messages": costs[1]?.young ?? [],
      "lean, 2,000 messages": costs[1]?.old ?? [],
    },
    figure: mine ? (mine.old - sending) / mine.young : NaN,
    goal: 1.5,
  };
}

async function live(running: RunningSubject, agent: string, turns: number): Promise<void> {
  for (let turn = 0; turn < turns; turn++) await running.turn(agent);
}

const visit = (dial: Dial, agent: string) =>
  timed(async () => {
    const talk = await AgentSocket.open(dial(agent));
    await talk.runTurn();
    talk.close();
  });

async function timed(work: () => Promise<void>): Promise<number> {
  const begun = performance.now();
  await work();
  return performance.now() - begun;
}
