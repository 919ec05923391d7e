import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { AgentEvent } from "@thinkery/sdk";
import { createHomePath, type HostProcess, startHostProcess, removeHome } from "./host-process.ts";
import { waitUntil } from "./wait-until.ts";

/** Repeats the message, and does more if it contains a cue. */
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
  // Longer than any test: whatever follows the first words of a slow turn comes from canceling it.
  { when: "slow", steps: [{ text: "Begun. " }, { wait: 600_000 }, { text: "Ended." }] },
  { when: "broken", steps: [{ fail: 401 }] },
  { steps: [{ text: "You said: {{ message }}" }] },
];

interface RequestOptions {
  method?: string;
  body?: unknown;
  headers?: Record<string, string>;
  signal?: AbortSignal;
}

/** Starts a host whose agents repeat what they are told, with plain HTTP access to them. */
export async function openEchoHost() {
  const home = await createHomePath();
  await mkdir(join(home, "scripts"), { recursive: true, mode: 0o700 });
  await writeFile(join(home, "scripts", "parrot.yaml"), JSON.stringify(echoScript));
  const host: HostProcess = await startHostProcess({ home });
  let agentCount = 0;

  const ask = (path: string, { method, body, headers = {}, signal }: RequestOptions = {}) =>
    fetch(host.url + path, {
      method: method ?? (body === undefined ? "GET" : "POST"),
      headers: {
        authorization: `Bearer ${host.token}`,
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
    host,
    ask,
    api,
    /** Opens an event stream: GET, or POST if there is a body. */
    open: (path: string, options: RequestOptions = {}) =>
      ask(path, { ...options, headers: { accept: "text/event-stream", ...options.headers } }),

    /** Creates an agent in the global agency. */
    async newAgent(options: { name?: string; model?: string } = {}) {
      const { name } = await host.client.call("createAgent", {
        params: { agency: "global" },
        body: { name: options.name ?? `agent-${++agentCount}`, model: options.model ?? "scripted:parrot" },
      });
      const params = { agency: "global", agent: name };
      const at = `/agents/${name}`;
      const run = async () => (await host.client.call("getState", { params })).run;
      const invoke = (body: object) => api(`${at}/invoke`, "POST", body);
      return {
        name,
        at,
        params,
        run,
        invoke,
        cancel: (body?: object) => api(`${at}/cancel`, "POST", body),
        log: async (): Promise<AgentEvent[]> => (await api(`${at}/events?limit=1000`)).body.events,
        /** Sends a message and waits for the end of its turn. */
        async say(message: string) {
          const { runId } = (await invoke({ message })).body;
          await waitUntil(`the end of “${message}”`, async () => {
            const current = await run();
            return current.runId === runId && ["completed", "error", "canceled"].includes(current.status);
          });
        },
      };
    },

    async stop() {
      await host.stop();
      await removeHome(home);
    },
  };
}

export type EchoHost = Awaited<ReturnType<typeof openEchoHost>>;
