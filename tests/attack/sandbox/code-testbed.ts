import net from "node:net";
import type { AgentEvent } from "@thinkery/sdk";
import { openTestbed, type TestAgent } from "../../kit/worker/testbed.ts";

/** What a call of `executeCode` came to. */
export interface CodeResult {
  /** `ok`, or the kind of trouble. */
  kind: string;
  text: string;
}

/** What a call may say beside the code. */
export interface CodeOptions {
  modules?: Record<string, string>;
  timeoutMs?: number;
}

interface CodeTestbedOptions {
  slots?: number;
  /** Limits of a run. */
  sandbox?: object;
  /** Everything that runs are going to be given; a script knows it beforehand. */
  given?: readonly CodeOptions[];
  scripts?: Record<string, unknown>;
  env?: Record<string, string>;
  /** Another Worker inside the sandboxes. */
  inside?: URL;
}

/** A house whose agents run whatever they are told as code, by a model that does nothing else. */
export async function openCodeTestbed({
  slots = 4,
  sandbox = {},
  given = [],
  scripts = {},
  env = {},
  inside,
}: CodeTestbedOptions = {}) {
  const inputs = [...new Set(given.map((one) => JSON.stringify(one)))];
  const steps = (input: object) => [
    { call: { tool: "executeCode", input: { code: "{{ message }}", ...input } } },
    { text: "Went on." },
  ];
  const workshop = await openTestbed({
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
    ...(inside ? { sandbox: inside } : {}),
  });

  /** How far each agent's log has been read. */
  const read = new Map<string, number>();

  return {
    ...workshop,
    newCoder: (more: object = {}) => workshop.newAgent({ model: "scripted:code", ...more }),

    /** Has the code run and answers what came of it, and what the agent's log says; the turn has to go on after it, whatever that was. */
    async run(
      { name, at }: TestAgent,
      code: string,
      input: CodeOptions = {},
    ): Promise<CodeResult & { events: AgentEvent[] }> {
      const index = inputs.indexOf(JSON.stringify(input));
      if (index < 0 && Object.keys(input).length > 0) throw new Error("The script does not know this input.");
      const { url, token } = workshop.house();
      const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
      // A comment in front of the code tells the script what else there is. Nobody polls: the host has enough to do.
      const body = JSON.stringify({ agent: name, message: index < 0 ? code : `/*${index}*/${code}` });
      const served = await fetch(`${url}/serve`, { method: "POST", headers, body });
      const answer = (await served.json()) as { content?: string };
      if (answer.content !== "Went on.")
        throw new Error(`The turn did not go on: ${JSON.stringify(answer).slice(0, 1000)}`);
      const events: AgentEvent[] = [];
      for (let after = read.get(name) ?? 0, more = true; more;) {
        const page = (await (await fetch(`${url}${at}/events?limit=1000&after=${after}`, { headers })).json()) as {
          events: AgentEvent[];
          next?: number;
        };
        events.push(...page.events);
        after = events.at(-1)?.seq ?? after;
        read.set(name, after);
        more = page.next !== undefined;
      }
      return { ...findCodeResult(events), events };
    },
  };
}

export type CodeTestbed = Awaited<ReturnType<typeof openCodeTestbed>>;

/** The last result of `executeCode` among these. */
export function findCodeResult(events: readonly AgentEvent[]): CodeResult {
  for (const { type, data } of events.toReversed()) {
    if (type === "tool.output" && data.toolName === "executeCode") return { kind: "ok", text: data.output };
    if (type === "tool.error" && data.toolName === "executeCode") return { kind: data.errorCode, text: data.error };
  }
  throw new Error("The call has no result.");
}

/** A server that nobody may ever reach. */
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
