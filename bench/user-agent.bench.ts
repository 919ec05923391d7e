import type { Bench } from "./kit/bench.ts";
import { startModelServer } from "./kit/model.ts";
import { measureMemory } from "./user-agent/memory.ts";
import { measureReload } from "./user-agent/reload.ts";
import { measureTurns } from "./user-agent/turns.ts";

/** `ROUNDS=1 npm run bench -- user-agent` for a quick look. */
const rounds = Number(process.env.ROUNDS ?? 3);
const savesPerRound = 10;

export const userAgent: Bench = {
  name: "user-agent",
  about: "agents that users write: from save to answer, an empty message, memory and processes",
  async run() {
    const model = await startModelServer();
    try {
      return [
        ...(await measureReload(rounds * savesPerRound)),
        ...(await measureTurns(model, rounds)),
        ...(await measureMemory()),
      ];
    } finally {
      await model.stop();
    }
  },
};
