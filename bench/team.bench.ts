import type { Bench } from "./kit/bench.ts";
import { startModelServer } from "./kit/model.ts";
import { measureGrowth } from "./team/growth.ts";
import { measureThroughput, measureWakeUp } from "./team/wake-up.ts";

/** `ROUNDS=1 MESSAGES=5000 npm run bench -- team` for a quick look. */
const rounds = Number(process.env.ROUNDS ?? 3);

export const team: Bench = {
  name: "team",
  about: "agents that write to each other: messages per second, from a message to its turn, and growth with history",
  async run() {
    const server = await startModelServer();
    try {
      return [
        await measureWakeUp(server, rounds),
        await measureThroughput(server, rounds),
        ...(await measureGrowth(rounds)),
      ];
    } finally {
      await server.stop();
    }
  },
};
