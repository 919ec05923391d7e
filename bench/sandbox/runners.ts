import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { AgentEvent } from "@thinkery/sdk";
import { emptyHome, openHouse, removeHome } from "../../tests/kit/house.ts";
import { processesOf } from "../../tests/kit/processes.ts";
import { until } from "../../tests/kit/until.ts";
import { dialer } from "../kit/ours.ts";
import { residentMegabytes } from "../kit/process.ts";
import { Talk } from "../kit/subject.ts";

/** Runs of code that one turn of a runner makes, one after the other. */
export const runsATurn = 40;

/** A turn of nothing but one line of code, again and again; no two in a row are the same. */
const script = [{ steps: [...Array.from({ length: runsATurn }, (_, index) => ({ call: { tool: "executeCode", input: { code: `return ${index} + 1` } } })), { text: "Ran." }] }];

/** A whole host whose agents do nothing but run code. */
export async function openRunners(slots: number) {
  const home = await emptyHome();
  await mkdir(join(home, "scripts"), { recursive: true, mode: 0o700 });
  await writeFile(join(home, "scripts", "runner.yaml"), JSON.stringify(script));
  await writeFile(join(home, "config.jsonc"), JSON.stringify({ sandboxSlots: slots }));
  const house = await openHouse({ home });
  const dial = dialer(house);
  await until("the sandboxes", async () => (await house.client.call("health")).sandboxes?.every(({ state }) => state === "ready"));

  return {
    async newRunner(name: string) {
      const params = { agency: "global", agent: name };
      await house.client.call("createAgent", { params, body: { name, model: "scripted:runner" } });
      const talk = await Talk.open(dial(name));
      return {
        /** Has its runs made and answers how long each call took. Nothing of it is remembered: a long past is another bench's. */
        async turn(): Promise<number[]> {
          await talk.turn();
          const { events } = await house.client.call("listEvents", { params, query: { limit: 1000 } });
          await house.client.call("clearMessages", { params });
          return timesIn(events);
        },
        close: () => talk.close(),
      };
    },
    /** Of the processes that code runs in, and of main. */
    async megabytes(): Promise<{ slots: number; main: number }> {
      const all = processesOf(home);
      const pids = (config: string) => all.filter(({ command }) => new RegExp(`^\\S*workerd serve \\S*/run/${config}\\.capnp`).test(command)).map(({ pid }) => pid);
      return { slots: residentMegabytes(pids("sandbox-\\d+")), main: residentMegabytes(pids("main")) };
    },
    async stop(): Promise<void> {
      await house.stop();
      await removeHome(home);
    },
  };
}

export type Runners = Awaited<ReturnType<typeof openRunners>>;

function timesIn(events: readonly AgentEvent[]): number[] {
  const times = events.flatMap(({ type, data }) => (type === "tool.output" && data.toolName === "executeCode" ? [data.ms] : []));
  if (times.length !== runsATurn) throw new Error(`Of ${runsATurn} runs, ${times.length} ended well.`);
  return times;
}
