import { readFile } from "node:fs/promises";
import { openHouse } from "../tests/kit/house.ts";
import { processesOf } from "../tests/kit/processes.ts";
import { until } from "../tests/kit/until.ts";
import { type Bench, median } from "./kit/bench.ts";

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
      const pids = [house.daemon.pid ?? 0, ...(await processesOf(house.home)).map(({ pid }) => pid)];
      const sizes = await Promise.all(pids.map(residentMegabytes));
      samples.push(sizes.reduce((sum, size) => sum + size, 0));
      await house.stop();
    }
    return [{ what: "idle host", unit: "MB", samples: { "whole host": samples }, figure: median(samples), goal: 350 }];
  },
};

async function residentMegabytes(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, "utf8").catch(() => "");
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1] ?? 0) / 1024;
}
