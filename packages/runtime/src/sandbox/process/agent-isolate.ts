import type { AgentCode, AgentRunHost } from "../agent-run.ts";
// oxlint-disable-next-line import/default -- the bundle of the file, as text
import sdk from "./agent-sdk.ts?text";
// oxlint-disable-next-line import/default -- the bundle of the file, as text
import harness from "./harness/agent.ts?text";
import { isolateDefaults } from "./isolate.ts";
import { agentModule } from "./names.ts";

const entrySource = `import { WorkerEntrypoint } from "cloudflare:workers";
import settings from "/thinkery/settings.json";
import { handle } from "/thinkery/agent.js";
export default class extends WorkerEntrypoint {
  handle(route, payload, host) {
    return handle(settings, route, payload, host);
  }
}
`;

/** The RPC interface of an agent's isolate. */
export interface AgentEntrypoint {
  handle(route: string, payload: string, host: AgentRunHost): Promise<unknown>;
}

/** Creates the isolate of a user agent. The SDK is ours, whatever version its author had. */
export function createAgentIsolate({ code, sourceMap }: AgentCode): WorkerLoaderWorkerCode {
  return {
    ...isolateDefaults,
    compatibilityFlags: [...isolateDefaults.compatibilityFlags, "nodejs_als"],
    mainModule: "thinkery/entry.js",
    modules: {
      [agentModule]: { js: code },
      // What the bundle imports as /thinkery/sdk.js.
      "thinkery/sdk.js": { js: sdk },
      "thinkery/entry.js": { js: entrySource },
      "thinkery/agent.js": { js: harness },
      "thinkery/settings.json": { json: { sourceMap: sourceMap ?? "" } },
    },
  };
}
