import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Admission, AgentEvent, Message } from "@thinkery/sdk";
import { copyBuild } from "../build-copy.ts";
import { createEventCheck } from "../event-check.ts";
import { createHomePath, type HostProcess, startHostProcess, removeHome } from "../host-process.ts";
import { findMain } from "../processes.ts";
import { waitUntil } from "../wait-until.ts";
import { type Bell, openBell } from "./bell.ts";

interface TestbedOptions {
  /** Scripted models by name; `BELL` in them stands for the bell's URL. */
  scripts?: Record<string, unknown>;
  config?: object;
  env?: Record<string, string>;
  /** Replaces the Worker with the test tools. */
  worker?: URL;
  /** Replaces the Worker inside the sandboxes. */
  sandbox?: URL;
}

export const turnEndTypes = ["agent.completed", "agent.error", "run.canceled"];

/** A host whose agents have tools made for tests, and a bell that counts their side effects. */
export async function openTestbed({
  scripts = {},
  config = {},
  env = {},
  worker = new URL("main.worker.ts", import.meta.url),
  sandbox,
}: TestbedOptions) {
  const [bell, home, build] = await Promise.all([
    openBell(),
    createHomePath(),
    copyBuild({ worker, ...(sandbox ? { sandbox } : {}) }),
  ]);
  await mkdir(join(home, "scripts"), { recursive: true, mode: 0o700 });
  await writeFile(join(home, "config.jsonc"), JSON.stringify(config));
  for (const [name, script] of Object.entries(scripts)) {
    await writeFile(join(home, "scripts", `${name}.yaml`), JSON.stringify(script).replaceAll("BELL", bell.url));
  }
  const open = (port = 0) => startHostProcess({ home, env, program: build.program, args: ["--port", String(port)] });
  let host = await open();
  let nameCount = 0;

  async function api(
    path: string,
    method = "GET",
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<ApiResponse> {
    const response = await fetch(host.url + path, {
      method,
      headers: {
        authorization: `Bearer ${host.token}`,
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(10_000),
    });
    const text = await response.text();
    return { status: response.status, body: text.startsWith("{") ? JSON.parse(text) : text };
  }

  return {
    bell: bell as Bell,
    home,
    program: build.program,
    api,
    host: (): HostProcess => host,

    async newAgent(options: { name?: string; model?: string; blueprint?: string; props?: object } = {}) {
      const { name = `agent-${++nameCount}` } = options;
      const { status, body } = await api("/agents", "POST", { ...options, name });
      if (status !== 201) throw new Error(`${status}: ${JSON.stringify(body)}`);
      return createTestAgent(`/agents/${name}`, name, api);
    },

    /** An existing agent, by its path. */
    agentAt: (at: string, name: string) => createTestAgent(at, name, api),

    /** Stores a blueprint under a new name and returns the name. */
    async newBlueprint(blueprint: object): Promise<string> {
      const name = `blueprint-${++nameCount}`;
      const { status, body } = await api("/agency/global/blueprints", "POST", { name, ...blueprint });
      if (status !== 201) throw new Error(`${status}: ${JSON.stringify(body)}`);
      return name;
    },

    /** Kills main as a crash would; the daemon restarts it. */
    async killMain(): Promise<void> {
      const main = await waitUntil("main to run", () => findMain(home));
      process.kill(main.pid, "SIGKILL");
      await waitUntil("main to be gone", () => findMain(home)?.pid !== main.pid);
    },

    /** Kills main and waits until the next one responds. */
    async restartMain(): Promise<void> {
      await this.killMain();
      await waitUntil("the next main", async () => (await api("/health")).status === 200);
    },

    async stopHost(): Promise<void> {
      await host.stop();
    },

    /** Restarts on the same port, so that clients can reconnect. */
    async startHost(): Promise<void> {
      host = await open(host.port);
    },

    async stop(): Promise<void> {
      await host.stop();
      await bell.stop();
      await build.remove();
      await removeHome(home);
    },
  };
}

export type Testbed = Awaited<ReturnType<typeof openTestbed>>;

interface ApiResponse {
  status: number;
  body: ReturnType<typeof JSON.parse>;
}

type Api = (path: string, method?: string, body?: unknown, headers?: Record<string, string>) => Promise<ApiResponse>;

function createTestAgent(at: string, name: string, api: Api) {
  async function invoke(message: object): Promise<Admission> {
    const { status, body } = await api(`${at}/invoke`, "POST", message);
    if (status !== 202) throw new Error(`${status}: ${JSON.stringify(body)}`);
    return body;
  }

  const run = async () => (await api(`${at}/state`)).body.run;
  const checkEvents = createEventCheck();

  async function log(): Promise<AgentEvent[]> {
    const events: AgentEvent[] = [];
    for (let after: number | undefined = 0; after !== undefined;) {
      const { body }: { body: { events: AgentEvent[]; next?: number } } = await api(
        `${at}/events?limit=1000&after=${after}`,
      );
      events.push(...body.events);
      after = body.next;
    }
    // Whatever the test, every event has to match its schema.
    checkEvents(events);
    return events;
  }

  async function messages(): Promise<Message[]> {
    const all: Message[] = [];
    for (let before: string | undefined = ""; before !== undefined;) {
      const { body }: { body: { messages: Message[]; next?: string } } = await api(
        `${at}/messages?limit=500${before && `&before=${before}`}`,
      );
      all.unshift(...body.messages);
      before = body.next;
    }
    return all;
  }

  /** Waits for the event that ends the turn, and returns it. */
  async function waitForEnd(runId: string, timeoutMs?: number): Promise<AgentEvent> {
    return waitUntil(
      `the end of ${name}'s turn`,
      async () =>
        (await log()).find(({ type, data }) => turnEndTypes.includes(type) && "runId" in data && data.runId === runId),
      timeoutMs ? { timeoutMs } : {},
    );
  }

  return {
    name,
    at,
    invoke,
    run,
    log,
    waitForEnd,
    state: async () => (await api(`${at}/state`)).body.state,
    report: (body: object) => api(`${at}/tool-results`, "POST", body),
    cancel: async (body?: object) => (await api(`${at}/cancel`, "POST", body)).body,
    messages,
    /** Sends a message, waits for the end of its turn and returns that event. */
    async say(message: string): Promise<AgentEvent> {
      return waitForEnd((await invoke({ message })).runId);
    },
    waitForEvent: (what: string, condition: (event: AgentEvent) => boolean) =>
      waitUntil(what, async () => (await log()).find(condition)),
  };
}

export type TestAgent = ReturnType<typeof createTestAgent>;
