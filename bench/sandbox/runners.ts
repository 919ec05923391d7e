import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { AgentEvent } from "@thinkery/sdk";
import { createHomePath, startHostProcess, removeHome } from "../../tests/kit/host-process.ts";
import { findHomeProcesses } from "../../tests/kit/processes.ts";
import { waitUntil } from "../../tests/kit/wait-until.ts";
import { createDialer } from "../kit/host-subject.ts";
import { measureResidentMegabytes } from "../kit/process.ts";
import { AgentSocket } from "../kit/subject.ts";

/** Runs of code that one turn of a runner makes, one after the other. */
export const runsATurn = 40;

/** A turn of nothing but one line of code, again and again; no two in a row are the same. */
const script = [
  {
    steps: [
      ...Array.from({ length: runsATurn }, (_, index) => ({
        call: { tool: "executeCode", input: { code: `return ${index} + 1` } },
      })),
      { text: "Ran." },
    ],
  },
];

/** A whole host whose agents do nothing but run code. */
export async function openRunners(slots: number) {
  const home = await createHomePath();
  await mkdir(join(home, "scripts"), { recursive: true, mode: 0o700 });
  await writeFile(join(home, "scripts", "runner.yaml"), JSON.stringify(script));
  await writeFile(join(home, "config.jsonc"), JSON.stringify({ sandboxSlots: slots }));
  const house = await startHostProcess({ home });
  const dial = createDialer(house);
  await waitUntil("the sandboxes", async () =>
    (await house.client.call("health")).sandboxes?.every(({ state }) => state === "ready"),
  );

  return {
    async newRunner(name: string) {
      const params = { agency: "global", agent: name };
      await house.client.call("createAgent", { params, body: { name, model: "scripted:runner" } });
      const talk = await AgentSocket.open(dial(name));
      return {
        /** Has its runs made and answers how long each call took. Nothing of it is remembered: a long past is another bench's. */
        async turn(): Promise<number[]> {
          await talk.runTurn();
          const { events } = await house.client.call("listEvents", { params, query: { limit: 1000 } });
          await house.client.call("clearMessages", { params });
          return timesIn(events);
        },
        close: () => talk.close(),
      };
    },
    /** Of the processes that code runs in, and of main. */
    async megabytes(): Promise<{ slots: number; main: number }> {
      const all = findHomeProcesses(home);
      const pids = (config: string) =>
        all
          .filter(({ command }) => new RegExp(`^\\S*workerd serve \\S*/run/${config}\\.capnp`).test(command))
          .map(({ pid }) => pid);
      return { slots: measureResidentMegabytes(pids("sandbox-\\d+")), main: measureResidentMegabytes(pids("main")) };
    },
    async stop(): Promise<void> {
      await house.stop();
      await removeHome(home);
    },
  };
}

export type Runners = Awaited<ReturnType<typeof openRunners>>;

function timesIn(events: readonly AgentEvent[]): number[] {
  const times = events.flatMap(({ type, data }) =>
    type === "tool.output" && data.toolName === "executeCode" ? [data.ms] : [],
  );
  if (times.length !== runsATurn) throw new Error(`Of ${runsATurn} runs, ${times.length} ended well.`);
  return times;
}
