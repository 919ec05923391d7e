import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { AgentEvent } from "@thinkery/sdk";
import { createHomePath, startHostProcess, removeHome } from "../../tests/kit/host-process.ts";
import { findHomeProcesses } from "../../tests/kit/processes.ts";
import { waitUntil } from "../../tests/kit/wait-until.ts";
import { createDialer } from "../kit/host-subject.ts";
import { measureResidentMegabytes } from "../kit/process.ts";
import { AgentSocket } from "../kit/subject.ts";

/** Consecutive runs of code in one turn. */
export const runsPerTurn = 40;

/** A turn that only runs one line of code repeatedly, each time a different one. */
const script = [
  {
    steps: [
      ...Array.from({ length: runsPerTurn }, (_, index) => ({
        call: { tool: "executeCode", input: { code: `return ${index} + 1` } },
      })),
      { text: "Ran." },
    ],
  },
];

/** Starts a host whose agents only run code. */
export async function openRunners(slots: number) {
  const home = await createHomePath();
  await mkdir(join(home, "scripts"), { recursive: true, mode: 0o700 });
  await writeFile(join(home, "scripts", "runner.yaml"), JSON.stringify(script));
  await writeFile(join(home, "config.jsonc"), JSON.stringify({ sandboxSlots: slots }));
  const host = await startHostProcess({ home });
  const dial = createDialer(host);
  await waitUntil("the sandboxes", async () =>
    (await host.client.call("health")).sandboxes?.every(({ state }) => state === "ready"),
  );

  return {
    async newRunner(name: string) {
      const params = { agency: "global", agent: name };
      await host.client.call("createAgent", { params, body: { name, model: "scripted:runner" } });
      const socket = await AgentSocket.open(dial(name));
      return {
        /**
         * Runs a turn and returns the duration of each call. The messages are cleared, because history is measured
         * elsewhere.
         */
        async turn(): Promise<number[]> {
          await socket.runTurn();
          const { events } = await host.client.call("listEvents", { params, query: { limit: 1000 } });
          await host.client.call("clearMessages", { params });
          return readDurations(events);
        },
        close: () => socket.close(),
      };
    },
    /** Memory of the slots' processes and of main. */
    async megabytes(): Promise<{ slots: number; main: number }> {
      const all = findHomeProcesses(home);
      const findPids = (config: string) =>
        all
          .filter(({ command }) => new RegExp(`^\\S*workerd serve \\S*/run/${config}\\.capnp`).test(command))
          .map(({ pid }) => pid);
      return {
        slots: measureResidentMegabytes(findPids("sandbox-\\d+")),
        main: measureResidentMegabytes(findPids("main")),
      };
    },
    async stop(): Promise<void> {
      await host.stop();
      await removeHome(home);
    },
  };
}

export type Runners = Awaited<ReturnType<typeof openRunners>>;

function readDurations(events: readonly AgentEvent[]): number[] {
  const times = events.flatMap(({ type, data }) =>
    type === "tool.output" && data.toolName === "executeCode" ? [data.ms] : [],
  );
  if (times.length !== runsPerTurn) throw new Error(`Only ${times.length} of ${runsPerTurn} runs succeeded.`);
  return times;
}
