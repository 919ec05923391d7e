import { type House, openHouse } from "../../tests/kit/house.ts";
import type { Dial } from "./subject.ts";

export interface Ours {
  house: House;
  create(agent: string, model: string): Promise<void>;
  dial: Dial;
  pids(): number[];
}

export const modelEnvironment = (modelBase: string) => ({ LLM_API_BASE: modelBase, LLM_API_KEY: "x" });

export function dialer({ url, token }: { url: string; token: string }): Dial {
  return (agent) => ({
    url: `${url.replace("http", "ws")}/agency/global/agent/${agent}/ws?batch=1`,
    headers: { authorization: `Bearer ${token}` },
  });
}

/** A whole host whose agents ask the bench's model; `program` is another build's CLI. */
export async function openOurs(modelBase: string, program?: string): Promise<Ours> {
  const house = await openHouse({ env: modelEnvironment(modelBase), ...(program ? { program } : {}) });
  return {
    house,
    create: async (name, model) => {
      await house.client.call("createAgent", { params: { agency: "global" }, body: { name, model: `openai:${model}` } });
    },
    dial: dialer(house),
    pids: () => [house.daemon.pid ?? 0],
  };
}
