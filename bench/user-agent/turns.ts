import { createHomePath, type HostProcess, removeHome, startHostProcess } from "../../tests/kit/host-process.ts";
import { compareMedians, type Finding } from "../kit/bench.ts";
import { createModelEnvironment } from "../kit/host-subject.ts";
import type { ModelServer } from "../kit/model.ts";

const agency = "global";
const turnsPerRound = 100;
const skippedTurns = 20;

/** An agent that does nothing but answer. */
export const emptyAgent = `import { defineAgent } from "/thinkery/sdk.js";
export default defineAgent({ onMessage: (_, ctx) => ctx.send("ok") });`;

const oneCallAgent = `import { defineAgent } from "/thinkery/sdk.js";
export default defineAgent({
  async onMessage({ content }, ctx) {
    const reply = ctx.reply();
    for await (const event of ctx.ai.stream({ model: "openai:zero-8", prompt: content })) {
      if (event.type === "text") void reply.write(event.text);
    }
    await reply.end();
  },
});`;

export async function useHost<T>(env: Record<string, string>, work: (host: HostProcess) => Promise<T>): Promise<T> {
  const home = await createHomePath();
  const host = await startHostProcess({ home, env });
  try {
    return await work(host);
  } finally {
    await host.stop();
    await removeHome(home);
  }
}

export async function deploy(
  { client }: HostProcess,
  name: string,
  code: string,
  capabilities: ("ai" | "tools")[] = [],
): Promise<void> {
  const manifest = { type: "agent", runtime: "isolate", capabilities } as const;
  await client.call("deployPackage", { params: { agency }, body: { name, manifest, code } });
}

/** Compares messages to an agent that a user wrote with turns of the built-in driver, on a model without latency. */
export async function measureTurns(model: ModelServer, rounds: number): Promise<Finding[]> {
  const samples = { empty: [] as number[], oneCall: [] as number[], builtIn: [] as number[] };
  await useHost(createModelEnvironment(model.base), async (host) => {
    const { client } = host;
    await deploy(host, "empty", emptyAgent);
    await deploy(host, "one-call", oneCallAgent, ["ai"]);
    // Without tools but the core's, the model says its text at once.
    await client.call("putBlueprint", {
      params: { agency },
      body: { name: "plain", model: "openai:zero-8", tags: [] },
    });
    await client.call("createAgent", { params: { agency }, body: { name: "built-in", blueprint: "plain" } });
    const measure = async (agent: string, into: number[], turn: number) => {
      const startedAt = performance.now();
      await client.call("serve", { body: { agent, message: "Say one word." } });
      if (turn >= skippedTurns) into.push(performance.now() - startedAt);
    };
    for (let turn = 0; turn < rounds * turnsPerRound + skippedTurns; turn++) {
      await measure("empty", samples.empty, turn);
      await measure("one-call", samples.oneCall, turn);
      await measure("built-in", samples.builtIn, turn);
    }
  });
  return [
    compareMedians(
      "an empty message to a user agent / a turn of the built-in driver",
      ["empty message", samples.empty],
      ["built-in turn", samples.builtIn],
      3,
    ),
    compareMedians(
      "a message with one model call / a turn of the built-in driver",
      ["one model call", samples.oneCall],
      ["built-in turn", samples.builtIn],
      3,
    ),
  ];
}
