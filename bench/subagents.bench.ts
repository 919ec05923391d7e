import { type Bench, type Finding, getMedian, compareMedians } from "./kit/bench.ts";
import { type ModelServer, startModelServer } from "./kit/model.ts";
import { measureResources, measureSpawn, measureTeams } from "./subagents/measure.ts";
import { ours } from "./subagents/ours.ts";
import { ours as single } from "./turn/ours.ts";
import { loadPeers } from "./turn/peers.ts";

/** `ROUNDS=2 npm run bench -- subagents` for a quick look. */
const rounds = Number(process.env.ROUNDS ?? 10);
const sizes = [1, 8, 32];
/** The tools of tasks and sub-agents. Those that are offered on demand count as soon as a turn is offered them. */
const tools = [
  "task",
  "createSubtask",
  "listTasks",
  "completeTask",
  "delegateToSubagent",
  "checkSubagentStatus",
  "waitForSubagents",
];

export const subagents: Bench = {
  name: "subagents",
  about: "a turn that delegates to 1, 8 and 32 sub-agents, each with 200 ms of model time, and waits for their reports",
  async run() {
    const model = await startModelServer();
    try {
      return [
        ...(await compareTeams(model)),
        await measureSpawn(model, 3 * rounds),
        ...(await measureResources(model, Math.ceil(rounds / 2))),
        await measureToolBytes(model),
      ];
    } finally {
      await model.stop();
    }
  },
};

async function compareTeams(model: ModelServer): Promise<Finding[]> {
  const subjects = [ours, ...(await loadPeers("subagents"))].filter(({ name, absent }) => {
    const reason = absent?.();
    if (reason) console.log(`  Skipping ${name}: ${reason}`);
    return !reason;
  });
  const [mine, ...peers] = await measureTeams(subjects, model, sizes, rounds);
  if (!mine) return [];
  const read = ({ samples }: typeof mine, size: number) => samples.get(size) ?? [];
  for (const one of [mine, ...peers]) {
    const medians = sizes.map((size) => `${size}: ${getMedian(read(one, size)).toFixed(0)} ms`);
    console.log(`  ${one.name.padEnd(20)} ${medians.join(", ")}`);
  }
  return [
    compareMedians("8 sub-agents / 1", ["8 sub-agents", read(mine, 8)], ["1 sub-agent", read(mine, 1)], 1.5),
    ...sizes.flatMap((size) =>
      peers.map((peer) =>
        compareMedians(
          `team of ${size}, ours / ${peer.name}`,
          ["ours", read(mine, size)],
          [peer.name, read(peer, size)],
          1,
        ),
      ),
    ),
  ];
}

/** What the tools add to the two model calls of an ordinary turn. */
async function measureToolBytes(model: ModelServer): Promise<Finding> {
  const running = await single.start(model.base, "zero-8");
  try {
    await model.reset();
    await running.turn("alice");
  } finally {
    await running.stop();
  }
  const { toolBytes } = await model.stats();
  const kilobytes = tools.reduce((sum, name) => sum + (toolBytes[name] ?? 0), 0) / 1024;
  if (kilobytes === 0) throw new Error("The model was offered no tools for sub-agents.");
  return {
    what: "to the model, tools of tasks and sub-agents",
    unit: "KB",
    samples: { ours: [kilobytes] },
    figure: kilobytes,
    goal: 1.5,
  };
}
