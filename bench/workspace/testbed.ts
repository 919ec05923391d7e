import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { AgentEvent } from "@thinkery/sdk";
import { type HostProcess, createHomePath, startHostProcess, removeHome } from "../../tests/kit/host-process.ts";
import { findMain } from "../../tests/kit/processes.ts";
import { waitUntil } from "../../tests/kit/wait-until.ts";
import { createDialer } from "../kit/host-subject.ts";
import { AgentSocket } from "../kit/subject.ts";

/** Consecutive calls in one turn. */
export const callsPerTurn = 40;

/** A call that a turn makes repeatedly, each time with a different input. */
export interface Job {
  tool: string;
  input(number: number): object;
  /** A call made once before all others. */
  before?: { tool: string; input: object };
}

/** A host whose agents each make one kind of call. */
export interface WorkspaceTestbed {
  host: HostProcess;
  newAgent(name: string, job?: string): Promise<Worker>;
  /** Kills main and waits until the next one responds. Returns its pid. */
  restartMain(): Promise<number>;
  mainPid(): Promise<number>;
  stop(): Promise<void>;
}

export interface Worker {
  files: ReturnType<HostProcess["client"]["agent"]>;
  /** Runs a turn; returns the logged duration of each call, and that of the whole turn for the client. */
  turn(): Promise<{ calls: number[]; ms: number }>;
  close(): void;
}

export async function openWorkspaceTestbed(jobs: Record<string, Job>): Promise<WorkspaceTestbed> {
  const home = await createHomePath();
  await mkdir(join(home, "scripts"), { recursive: true, mode: 0o700 });
  for (const [name, { tool, input, before }] of Object.entries(jobs)) {
    const steps = [
      ...(before ? [{ call: before }] : []),
      ...Array.from({ length: callsPerTurn }, (_, number) => ({ call: { tool, input: input(number) } })),
    ];
    await writeFile(join(home, "scripts", `${name}.yaml`), JSON.stringify([{ steps: [...steps, { text: "Done." }] }]));
  }
  await writeFile(join(home, "config.jsonc"), JSON.stringify({ sandboxSlots: 1, maxFailuresPerMinute: 1000 }));
  const host = await startHostProcess({ home });
  const dial = createDialer(host);
  await waitUntil("the sandboxes", async () =>
    (await host.client.call("health")).sandboxes?.every(({ state }) => state === "ready"),
  );
  const mainPid = async () => (await waitUntil("main", () => findMain(home))).pid;

  return {
    host,
    mainPid,
    async newAgent(name, job) {
      const params = { agency: "global", agent: name };
      await host.client.call("createAgent", { params, body: { name, ...(job ? { model: `scripted:${job}` } : {}) } });
      const socket = job ? await AgentSocket.open(dial(name)) : undefined;
      return {
        files: host.client.agent(name),
        async turn() {
          const startedAt = performance.now();
          await socket?.runTurn();
          const ms = performance.now() - startedAt;
          const { events } = await host.client.call("listEvents", { params, query: { limit: 1000 } });
          await host.client.call("clearMessages", { params });
          return { calls: readDurations(events), ms };
        },
        close: () => socket?.close(),
      };
    },
    async restartMain() {
      const killed = await mainPid();
      process.kill(killed, "SIGKILL");
      const { pid } = await waitUntil("another main", () => findMain(home, killed));
      await waitUntil("its response", async () => (await host.client.call("health")).status === "ok");
      return pid;
    },
    async stop() {
      await host.stop();
      await removeHome(home);
    },
  };
}

function readDurations(events: readonly AgentEvent[]): number[] {
  const failed = events.find(({ type }) => type === "tool.error");
  if (failed) throw new Error(`A call failed: ${JSON.stringify(failed.data)}`);
  const times = events
    .flatMap(({ type, data }) => (type === "tool.output" ? [(data as { ms: number }).ms] : []))
    .slice(-callsPerTurn);
  if (times.length !== callsPerTurn) throw new Error(`Only ${times.length} of ${callsPerTurn} calls succeeded.`);
  return times;
}

/** Creates a text of about this size; every tenth one contains “needle”. */
export function createText(number: number, bytes: number): string {
  const line = `export const value${number} = "${number % 10 === 0 ? "needle" : "straw"}";\n`;
  return line.repeat(Math.max(1, Math.round(bytes / line.length)));
}

/** Writes files in as few versions as possible. */
export async function writeFiles(worker: Worker, count: number, bytes: number): Promise<void> {
  for (let from = 0; from < count; from += 250) {
    const edits = Array.from({ length: Math.min(250, count - from) }, (_, index) => ({
      write: createPath(from + index),
      content: createText(from + index, bytes),
    }));
    await worker.files.editFiles(edits);
  }
}

export const createPath = (number: number) => `src/part-${number % 20}/file-${number}.ts`;
