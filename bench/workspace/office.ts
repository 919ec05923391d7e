import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { AgentEvent } from "@thinkery/sdk";
import { type HostProcess, createHomePath, startHostProcess, removeHome } from "../../tests/kit/host-process.ts";
import { findMain } from "../../tests/kit/processes.ts";
import { waitUntil } from "../../tests/kit/wait-until.ts";
import { createDialer } from "../kit/host-subject.ts";
import { AgentSocket } from "../kit/subject.ts";

/** Calls that one turn makes, one after the other. */
export const callsATurn = 40;

/** A call that a turn makes again and again; no two in a row are the same. */
export interface Job {
  tool: string;
  input(number: number): object;
  /** What is called once before all of them. */
  before?: { tool: string; input: object };
}

/** A whole host whose agents do one thing each. */
export interface Office {
  house: HostProcess;
  newAgent(name: string, job?: string): Promise<Worker>;
  /** Another main in place of this one, ready to answer. */
  restartMain(): Promise<number>;
  mainPid(): Promise<number>;
  stop(): Promise<void>;
}

export interface Worker {
  files: ReturnType<HostProcess["client"]["agent"]>;
  /** Has its calls made; answers how long each took as the log has it, and the whole turn for one who waits for it. */
  turn(): Promise<{ calls: number[]; ms: number }>;
  close(): void;
}

export async function openOffice(jobs: Record<string, Job>): Promise<Office> {
  const home = await createHomePath();
  await mkdir(join(home, "scripts"), { recursive: true, mode: 0o700 });
  for (const [name, { tool, input, before }] of Object.entries(jobs)) {
    const steps = [
      ...(before ? [{ call: before }] : []),
      ...Array.from({ length: callsATurn }, (_, number) => ({ call: { tool, input: input(number) } })),
    ];
    await writeFile(join(home, "scripts", `${name}.yaml`), JSON.stringify([{ steps: [...steps, { text: "Done." }] }]));
  }
  await writeFile(join(home, "config.jsonc"), JSON.stringify({ sandboxSlots: 1, maxFailuresPerMinute: 1000 }));
  const house = await startHostProcess({ home });
  const dial = createDialer(house);
  await waitUntil("the sandboxes", async () =>
    (await house.client.call("health")).sandboxes?.every(({ state }) => state === "ready"),
  );
  const mainPid = async () => (await waitUntil("main", () => findMain(home))).pid;

  return {
    house,
    mainPid,
    async newAgent(name, job) {
      const params = { agency: "global", agent: name };
      await house.client.call("createAgent", { params, body: { name, ...(job ? { model: `scripted:${job}` } : {}) } });
      const talk = job ? await AgentSocket.open(dial(name)) : undefined;
      return {
        files: house.client.agent(name),
        async turn() {
          const began = performance.now();
          await talk?.runTurn();
          const ms = performance.now() - began;
          const { events } = await house.client.call("listEvents", { params, query: { limit: 1000 } });
          await house.client.call("clearMessages", { params });
          return { calls: timesIn(events), ms };
        },
        close: () => talk?.close(),
      };
    },
    async restartMain() {
      const killed = await mainPid();
      process.kill(killed, "SIGKILL");
      const { pid } = await waitUntil("another main", () => findMain(home, killed));
      await waitUntil("its answer", async () => (await house.client.call("health")).status === "ok");
      return pid;
    },
    async stop() {
      await house.stop();
      await removeHome(home);
    },
  };
}

function timesIn(events: readonly AgentEvent[]): number[] {
  const failed = events.find(({ type }) => type === "tool.error");
  if (failed) throw new Error(`A call failed: ${JSON.stringify(failed.data)}`);
  const times = events
    .flatMap(({ type, data }) => (type === "tool.output" ? [(data as { ms: number }).ms] : []))
    .slice(-callsATurn);
  if (times.length !== callsATurn) throw new Error(`Of ${callsATurn} calls, ${times.length} ended well.`);
  return times;
}

/** Some text of about so many bytes, with a word in it that is in one file of ten. */
export function textOf(number: number, bytes: number): string {
  const line = `export const value${number} = "${number % 10 === 0 ? "needle" : "straw"}";\n`;
  return line.repeat(Math.max(1, Math.round(bytes / line.length)));
}

/** Writes so many files, in as few versions as may be. */
export async function fill(worker: Worker, count: number, bytes: number): Promise<void> {
  for (let from = 0; from < count; from += 250) {
    const edits = Array.from({ length: Math.min(250, count - from) }, (_, index) => ({
      write: pathOf(from + index),
      content: textOf(from + index, bytes),
    }));
    await worker.files.editFiles(edits);
  }
}

export const pathOf = (number: number) => `src/part-${number % 20}/file-${number}.ts`;
