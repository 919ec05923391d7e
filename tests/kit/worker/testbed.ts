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
  /** Scripted models by name; `BELL` in them stands for the bell's address. */
  scripts?: Record<string, unknown>;
  config?: object;
  env?: Record<string, string>;
  /** Another Worker than the one with tools made for tests. */
  worker?: URL;
  /** Another Worker inside the sandboxes. */
  sandbox?: URL;
}

export const turnEndTypes = ["agent.completed", "agent.error", "run.canceled"];

/** A house whose agents have tools made for tests, and a bell to count their effects. */
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
  let house = await open();
  let nameCount = 0;

  async function api(
    path: string,
    method = "GET",
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<ApiResponse> {
    const response = await fetch(house.url + path, {
      method,
      headers: {
        authorization: `Bearer ${house.token}`,
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
    house: (): HostProcess => house,

    async newAgent(given: { name?: string; model?: string; blueprint?: string; props?: object } = {}) {
      const { name = `agent-${++nameCount}` } = given;
      const { status, body } = await api("/agents", "POST", { ...given, name });
      if (status !== 201) throw new Error(`${status}: ${JSON.stringify(body)}`);
      return createTestAgent(`/agents/${name}`, name, api);
    },

    /** An agent that was made in another way. */
    agentAt: (at: string, name: string) => createTestAgent(at, name, api),

    /** Stores a blueprint under a name of its own. */
    async newBlueprint(given: object): Promise<string> {
      const name = `blueprint-${++nameCount}`;
      const { status, body } = await api("/agency/global/blueprints", "POST", { name, ...given });
      if (status !== 201) throw new Error(`${status}: ${JSON.stringify(body)}`);
      return name;
    },

    /** Kills main as a crash would; the daemon starts another. */
    async killMain(): Promise<void> {
      const main = await waitUntil("main to live", () => findMain(home));
      process.kill(main.pid, "SIGKILL");
      await waitUntil("main to be gone", () => findMain(home)?.pid !== main.pid);
    },

    /** The same, and waits until the next one answers. */
    async restartMain(): Promise<void> {
      await this.killMain();
      await waitUntil("the next main", async () => (await api("/health")).status === 200);
    },

    async stopHouse(): Promise<void> {
      await house.stop();
    },

    /** On the same port, so that whoever talks to it finds it again. */
    async startHouse(): Promise<void> {
      house = await open(house.port);
    },

    async stop(): Promise<void> {
      await house.stop();
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
  const check = createEventCheck();

  async function log(): Promise<AgentEvent[]> {
    const events: AgentEvent[] = [];
    for (let after: number | undefined = 0; after !== undefined;) {
      const { body }: { body: { events: AgentEvent[]; next?: number } } = await api(
        `${at}/events?limit=1000&after=${after}`,
      );
      events.push(...body.events);
      after = body.next;
    }
    // Whatever a test makes an agent do, its log is what the schemas say.
    check(events);
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

  /** Waits for the turn's outcome, and answers it: there may be one only. */
  async function over(runId: string, within?: number): Promise<AgentEvent> {
    return waitUntil(
      `the end of ${name}'s turn`,
      async () =>
        (await log()).find(({ type, data }) => turnEndTypes.includes(type) && "runId" in data && data.runId === runId),
      within ? { within } : {},
    );
  }

  return {
    name,
    at,
    invoke,
    run,
    log,
    over,
    state: async () => (await api(`${at}/state`)).body.state,
    report: (body: object) => api(`${at}/tool-results`, "POST", body),
    cancel: async (body?: object) => (await api(`${at}/cancel`, "POST", body)).body,
    messages,
    /** Says something, waits for the turn's end and answers its outcome. */
    async say(message: string): Promise<AgentEvent> {
      return over((await invoke({ message })).runId);
    },
    seen: (what: string, condition: (event: AgentEvent) => boolean) =>
      waitUntil(what, async () => (await log()).find(condition)),
  };
}

export type TestAgent = ReturnType<typeof createTestAgent>;
