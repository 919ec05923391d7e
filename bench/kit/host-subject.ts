import { type HostProcess, startHostProcess } from "../../tests/kit/host-process.ts";
import type { Dial } from "./subject.ts";

export interface HostSubject {
  house: HostProcess;
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

/** A whole host whose agents ask the bench's model; `program` is another build's CLI. */
export async function openHostSubject(modelBase: string, program?: string): Promise<HostSubject> {
  const house = await startHostProcess({ env: createModelEnvironment(modelBase), ...(program ? { program } : {}) });
  return {
    house,
    create: async (name, model) => {
      await house.client.call("createAgent", {
        params: { agency: "global" },
        body: { name, model: `openai:${model}` },
      });
    },
    dial: createDialer(house),
    pids: () => [house.daemon.pid ?? 0],
  };
}
