import { openHouse } from "../tests/kit/house.ts";
import { processesOf } from "../tests/kit/processes.ts";
import { until } from "../tests/kit/until.ts";
import { type Bench, median } from "./kit/bench.ts";
import { residentMegabytes } from "./kit/process.ts";

const rounds = 5;

export const memory: Bench = {
  name: "memory",
  about: "resident memory of the whole idle host: daemon, main, sandboxes",
  async run() {
    const samples: number[] = [];
    for (let round = 0; round < rounds; round++) {
      const house = await openHouse();
      await house.client.call("createAgent", { params: { agency: "global" }, body: { name: "alice" } });
      await until("the sandboxes", async () => (await house.client.call("health")).sandboxes?.every((slot) => slot.state === "ready"));
      const pids = [house.daemon.pid ?? 0, ...processesOf(house.home).map(({ pid }) => pid)];
      samples.push(residentMegabytes(pids));
      await house.stop();
    }
    return [{ what: "idle host", unit: "MB", samples: { "whole host": samples }, figure: median(samples), goal: 350 }];
  },
};
