import { type HostProcess, startHostProcess } from "../../tests/kit/host-process.ts";
import type { Dial } from "./subject.ts";

export interface HostSubject {
  host: HostProcess;
  create(agent: string, model: string): Promise<void>;
  dial: Dial;
  pids(): number[];
}

export const createModelEnvironment = (modelBase: string) => ({ LLM_API_BASE: modelBase, LLM_API_KEY: "x" });

export function createDialer({ url, token }: { url: string; token: string }): Dial {
  return (agent) => ({
    url: `${url.replace("http", "ws")}/agency/global/agent/${agent}/ws?batch=1`,
    headers: { authorization: `Bearer ${token}` },
  });
}

/** Starts a host whose agents use the benchmark's model; `program` is the CLI of another build. */
export async function openHostSubject(modelBase: string, program?: string): Promise<HostSubject> {
  const host = await startHostProcess({ env: createModelEnvironment(modelBase), ...(program ? { program } : {}) });
  return {
    host,
    create: async (name, model) => {
      await host.client.call("createAgent", {
        params: { agency: "global" },
        body: { name, model: `openai:${model}` },
      });
    },
    dial: createDialer(host),
    pids: () => [host.daemon.pid ?? 0],
  };
}
