import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { AgentEvent } from "@thinkery/sdk";
import { createHomePath, type HostProcess, startHostProcess, removeHome } from "./host-process.ts";
import { waitUntil } from "./wait-until.ts";

/** Says what it is told, and more where a word of the message asks for it. */
const echoScript = [
  {
    when: "plan",
    steps: [
      { reasoning: "One thing after the other." },
      { text: "I will note it." },
      { call: { tool: "write_todos", input: { todos: [{ content: "one", status: "pending" }] } } },
      {
        calls: [
          { tool: "set_title", input: { title: "A plan" } },
          { tool: "no_such_tool", input: {} },
        ],
      },
      { text: "All noted." },
    ],
  },
  // Nobody waits that long: what comes after a slow turn's first words comes because it was canceled.
  { when: "slow", steps: [{ text: "Begun. " }, { wait: 600_000 }, { text: "Ended." }] },
  { when: "broken", steps: [{ fail: 401 }] },
  { steps: [{ text: "You said: {{ message }}" }] },
];

interface Ask {
  method?: string;
  body?: unknown;
  headers?: Record<string, string>;
  signal?: AbortSignal;
}

/** A house whose agents repeat what they hear, and plain HTTP to talk to them. */
export async function openEchoHost() {
  const home = await createHomePath();
  await mkdir(join(home, "scripts"), { recursive: true, mode: 0o700 });
  await writeFile(join(home, "scripts", "parrot.yaml"), JSON.stringify(echoScript));
  const house: HostProcess = await startHostProcess({ home });
  let agents = 0;

  const ask = (path: string, { method, body, headers = {}, signal }: Ask = {}) =>
    fetch(house.url + path, {
      method: method ?? (body === undefined ? "GET" : "POST"),
      headers: {
        authorization: `Bearer ${house.token}`,
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
      signal: signal ?? null,
    });

  async function api(path: string, method = "GET", body?: unknown, headers: Record<string, string> = {}) {
    const response = await ask(path, { method, body, headers });
    const text = await response.text();
    return { status: response.status, body: text.startsWith("{") ? JSON.parse(text) : text };
  }

  return {
    house,
    ask,
    api,
    /** A stream of events: a GET, or a POST where there is a body. */
    open: (path: string, given: Ask = {}) =>
      ask(path, { ...given, headers: { accept: "text/event-stream", ...given.headers } }),

    /** A new agent of the global agency, and how to reach it. */
    async newAgent(given: { name?: string; model?: string } = {}) {
      const { name } = await house.client.call("createAgent", {
        params: { agency: "global" },
        body: { name: given.name ?? `agent-${++agents}`, model: given.model ?? "scripted:parrot" },
      });
      const params = { agency: "global", agent: name };
      const at = `/agents/${name}`;
      const run = async () => (await house.client.call("getState", { params })).run;
      const invoke = (body: object) => api(`${at}/invoke`, "POST", body);
      return {
        name,
        at,
        params,
        run,
        invoke,
        cancel: (body?: object) => api(`${at}/cancel`, "POST", body),
        log: async (): Promise<AgentEvent[]> => (await api(`${at}/events?limit=1000`)).body.events,
        /** Says something and waits until the turn is over. */
        async say(message: string) {
          const { runId } = (await invoke({ message })).body;
          await waitUntil(`the end of “${message}”`, async () => {
            const now = await run();
            return now.runId === runId && ["completed", "error", "canceled"].includes(now.status);
          });
        },
      };
    },

    async stop() {
      await house.stop();
      await removeHome(home);
    },
  };
}

export type EchoHost = Awaited<ReturnType<typeof openEchoHost>>;
