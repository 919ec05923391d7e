import { AsyncLocalStorage } from "node:async_hooks";
import { createFetch } from "@thinkery/sdk/agent-host";
import type { AgentOutcome, AgentRunHost } from "../../agent-run.ts";
import { maxValueChars } from "../../bounds.ts";
import { agentModule } from "../names.ts";
import { defineGlobal } from "./absent.ts";
import { ConsoleBridge } from "./console-bridge.ts";
import { describeThrown, setUpIsolate, truncateOutcome } from "./set-up-globals.ts";
import { createSourceMap } from "./source-map.ts";

/** Our part of the isolate of a user agent, next to its code and the SDK. Bundled to text. */

interface AgentSettings {
  sourceMap: string;
}

/** A request that is being handled. */
interface Current {
  host: AgentRunHost;
  console: ConsoleBridge;
}

interface AgentModule {
  default?: { fetch?(request: Request, env: object): Promise<Response> };
}

const current = new AsyncLocalStorage<Current>();
let isSetUp = false;

/** Handles one request. Requests may overlap. */
export async function handle(
  settings: AgentSettings,
  route: string,
  payload: string,
  host: AgentRunHost,
): Promise<AgentOutcome> {
  const console = new ConsoleBridge(host);
  return current.run({ host, console }, async () => {
    try {
      return await respond(settings, route, payload, host);
    } finally {
      await console.flush();
    }
  });
}

async function respond(
  settings: AgentSettings,
  route: string,
  payload: string,
  host: AgentRunHost,
): Promise<AgentOutcome> {
  let agent: AgentModule["default"];
  try {
    setUp(settings);
    // The engine loads it once.
    ({ default: agent } = (await import(`/${agentModule}`)) as AgentModule);
  } catch (error) {
    return { ok: false, kind: "load", message: truncateOutcome(describeThrown(error)) };
  }
  if (typeof agent?.fetch !== "function") {
    const message = "The agent's module has no default export made with defineAgent: export default defineAgent({ … })";
    return { ok: false, kind: "load", message };
  }
  const interrupt = new AbortController();
  host.untilInterrupted().then(
    (reason) => interrupt.abort(new Error(reason)),
    () => interrupt.abort(new Error("The request is over.")),
  );
  try {
    const request = new Request(`http://agent/${route}`, { method: "POST", body: payload, signal: interrupt.signal });
    const response = await agent.fetch(request, {
      HOST: { call: (capability: string, input: string) => host.call(capability, input) },
    });
    const body = await response.text();
    // What is too large for RPC would end like a lost process.
    if (typeof body !== "string" || body.length > maxValueChars)
      return { ok: false, kind: "limit", message: "The agent's code responded with no text, or with too much of it." };
    return { ok: true, status: response.status, body };
  } catch (error) {
    return { ok: false, kind: "threw", message: truncateOutcome(describeThrown(error)) };
  }
}

function setUp({ sourceMap }: AgentSettings): void {
  if (isSetUp) return;
  isSetUp = true;
  const write = (text: string) => current.getStore()?.console.add(text);
  const find = createSourceMap(sourceMap);
  setUpIsolate((file, line, column) => {
    if (file !== agentModule) return undefined;
    const { source, ...at } = find(line, column) ?? { source: file, line, column };
    return `${source.replace(/^(?:\.\.?\/)+/, "")}:${at.line}:${at.column}`;
  }, write);
  defineGlobal(
    "fetch",
    createFetch(() => {
      const host = current.getStore()?.host;
      if (!host) throw new Error("fetch can only be called while a request is handled.");
      return async (input) => JSON.parse((await host.call("fetch", JSON.stringify(input))) || "null") as unknown;
    }),
  );
}
