import type { Bench } from "./kit/bench.ts";
import { startModelServer } from "./kit/model.ts";
import { measureApprovals, measurePausedMemory } from "./waiting/approvals.ts";
import { measureSchedules } from "./waiting/schedules.ts";

/** `ROUNDS=1 npm run bench -- waiting` for a quick look. */
const rounds = Number(process.env.ROUNDS ?? 3);

export const waiting: Bench = {
  name: "waiting",
  about: "agents that wait: approvals, the memory of paused agents, and schedules that are due at once",
  async run() {
    const server = await startModelServer();
    try {
      return [await measureApprovals(rounds), await measurePausedMemory(), await measureSchedules(server, rounds)];
    } finally {
      await server.stop();
    }
  },
};
