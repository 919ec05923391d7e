import { startHostProcess } from "../tests/kit/host-process.ts";
import { findHomeProcesses } from "../tests/kit/processes.ts";
import { waitUntil } from "../tests/kit/wait-until.ts";
import { type Bench, getMedian } from "./kit/bench.ts";
import { measureResidentMegabytes } from "./kit/process.ts";

const rounds = 5;

export const memory: Bench = {
  name: "memory",
  about: "resident memory of the whole idle host: daemon, main, sandboxes",
  async run() {
    const samples: number[] = [];
    for (let round = 0; round < rounds; round++) {
      const host = await startHostProcess();
      await host.client.call("createAgent", { params: { agency: "global" }, body: { name: "alice" } });
      await waitUntil("the sandboxes", async () =>
        (await host.client.call("health")).sandboxes?.every((slot) => slot.state === "ready"),
      );
      const pids = [host.daemon.pid ?? 0, ...findHomeProcesses(host.home).map(({ pid }) => pid)];
      samples.push(measureResidentMegabytes(pids));
      await host.stop();
    }
    return [
      { what: "idle host", unit: "MB", samples: { "whole host": samples }, figure: getMedian(samples), goal: 350 },
    ];
  },
};
