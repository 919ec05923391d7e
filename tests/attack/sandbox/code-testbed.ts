import net from "node:net";
import type { AgentEvent } from "@thinkery/sdk";
import { openTestbed, type TestAgent } from "../../kit/worker/testbed.ts";

/** The result of an `executeCode` call. */
export interface CodeResult {
  /** `ok`, or the error code. */
  kind: string;
  text: string;
}

/** Options of an `executeCode` call. */
export interface CodeOptions {
  modules?: Record<string, string>;
  timeoutMs?: number;
}

interface CodeTestbedOptions {
  slots?: number;
  /** Limits of each run. */
  sandbox?: object;
  /** All options that runs are going to use; the model's script has to list them. */
  options?: readonly CodeOptions[];
  scripts?: Record<string, unknown>;
  env?: Record<string, string>;
  /** Replaces the Worker inside the sandboxes. */
  sandboxWorker?: URL;
}

/** A host whose agents run each message as code, with a scripted model. */
export async function openCodeTestbed({
  slots = 4,
  sandbox = {},
  options = [],
  scripts = {},
  env = {},
  sandboxWorker,
}: CodeTestbedOptions = {}) {
  const inputs = [...new Set(options.map((option) => JSON.stringify(option)))];
  const steps = (input: object) => [
    { call: { tool: "executeCode", input: { code: "{{ message }}", ...input } } },
    { text: "Continued." },
  ];
  const testbed = await openTestbed({
    config: {
      sandboxSlots: slots,
      maxFailuresPerMinute: 1000,
      sandbox: { timeoutSeconds: 5, ...sandbox },
      turn: { heartbeatSeconds: 1 },
    },
    scripts: {
      ...scripts,
      code: [
        ...inputs.map((input, index) => ({ when: `/^\\/\\*${index}\\*\\//`, steps: steps(JSON.parse(input)) })),
        { steps: steps({}) },
      ],
    },
    env,
    ...(sandboxWorker ? { sandbox: sandboxWorker } : {}),
  });

  /** The last event read of each agent's log. */
  const lastSeqs = new Map<string, number>();

  return {
    ...testbed,
    newCodeAgent: (options: object = {}) => testbed.newAgent({ model: "scripted:code", ...options }),

    /** Runs the code and returns its result and the new events. Throws if the turn does not continue after it. */
    async run(
      { name, at }: TestAgent,
      code: string,
      input: CodeOptions = {},
    ): Promise<CodeResult & { events: AgentEvent[] }> {
      const index = inputs.indexOf(JSON.stringify(input));
      if (index < 0 && Object.keys(input).length > 0)
        throw new Error("Pass these options to openCodeTestbed: the script has to list them.");
      const { url, token } = testbed.host();
      const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
      // A comment before the code selects the options in the script. /serve avoids polling a busy host.
      const body = JSON.stringify({ agent: name, message: index < 0 ? code : `/*${index}*/${code}` });
      const response = await fetch(`${url}/serve`, { method: "POST", headers, body });
      const outcome = (await response.json()) as { content?: string };
      if (outcome.content !== "Continued.")
        throw new Error(`The turn did not continue: ${JSON.stringify(outcome).slice(0, 1000)}`);
      const events: AgentEvent[] = [];
      for (let after = lastSeqs.get(name) ?? 0, hasMore = true; hasMore;) {
        const page = (await (await fetch(`${url}${at}/events?limit=1000&after=${after}`, { headers })).json()) as {
          events: AgentEvent[];
          next?: number;
        };
        events.push(...page.events);
        after = events.at(-1)?.seq ?? after;
        lastSeqs.set(name, after);
        hasMore = page.next !== undefined;
      }
      return { ...findCodeResult(events), events };
    },
  };
}

export type CodeTestbed = Awaited<ReturnType<typeof openCodeTestbed>>;

/** Finds the last result of `executeCode`. */
export function findCodeResult(events: readonly AgentEvent[]): CodeResult {
  for (const { type, data } of events.toReversed()) {
    if (type === "tool.output" && data.toolName === "executeCode") return { kind: "ok", text: data.output };
    if (type === "tool.error" && data.toolName === "executeCode") return { kind: data.errorCode, text: data.error };
  }
  throw new Error("The call has no result.");
}

/** A server that no code may ever reach. */
export async function openTrap(): Promise<{ port: number; visits(): number; stop(): Promise<void> }> {
  let visits = 0;
  const script = "export default 'ESCAPED'";
  const server = net.createServer((socket) => {
    visits++;
    socket.on("error", () => {});
    socket.end(`HTTP/1.1 200 OK\r\ncontent-type: text/javascript\r\ncontent-length: ${script.length}\r\n\r\n${script}`);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    port: (server.address() as net.AddressInfo).port,
    visits: () => visits,
    stop: () => new Promise((resolve) => void server.close(() => resolve())),
  };
}
