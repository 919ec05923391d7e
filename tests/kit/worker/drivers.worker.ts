import { AgentSystem, type TurnContext, type Driver, MutableToolSource, type ToolSource } from "@thinkery/runtime";
import { defineTool } from "@thinkery/sdk";
import { z } from "zod";

// A second driver, and tool sources that change: the extension points, without the built-in loop.

const createRingTool = (name: string, idempotent: boolean) =>
  defineTool(
    {
      name,
      description: "Rings a bell that counts.",
      inputSchema: z.object({ bell: z.string(), id: z.string() }),
      idempotent,
    },
    async ({ bell, id }, { callId, signal }) => {
      const { promise, resolve } = Promise.withResolvers<string>();
      const body = JSON.stringify({ tool: name, id, callId });
      fetchThroughHost(bell, { method: "POST", body, signal }).then(
        async (response) => resolve(await response.text()),
        () => resolve("no bell"),
      );
      return promise;
    },
  );

let fetchThroughHost: (url: string, init: RequestInit) => Promise<Response> = (url, init) => fetch(url, init);

/** Calls a tool with its input and echoes the result. Keeps no state: the log says how far the turn got. */
class EchoDriver implements Driver {
  async run(turn: TurnContext): Promise<"completed" | "waiting"> {
    for (;;) {
      const calls = await turn.listPendingCalls();
      if (calls.length > 0) await turn.executeCalls(calls);
      if (await turn.isWaiting()) return "waiting";
      if (calls.length === 0 && (await turn.isAnswered())) return "completed";
      await turn.beginStep({ modelId: "echo:echo" });
      const last = (await turn.conversation.readAfter(0)).at(-1);
      await turn.startModelCall("echo:echo");
      if (last?.role === "user") {
        // “ring BELL id” becomes a call of the tool `ring`, anything else is echoed.
        const [, name, bell, id] = /^(\w+) (http\S+) (\S+)$/.exec(last.content) ?? [];
        await turn.appendDelta(name ? "One moment. " : `Echo: ${last.content}`, "");
        const toolCalls = name ? [{ id: `${turn.runId}-call`, name, input: { bell, id } }] : [];
        await turn.completeModelCall({ finish: { type: "finish", reason: name ? "tool-calls" : "stop" }, toolCalls });
      } else {
        await turn.appendDelta(`Echo: ${last?.content ?? ""}`, "");
        await turn.completeModelCall({ finish: { type: "finish", reason: "stop" }, toolCalls: [] });
      }
    }
  }
}

const createGiftTool = (name: string) =>
  defineTool({ name, description: "A gift.", inputSchema: z.object({}), idempotent: true }, () => `from ${name}`);

/**
 * A tool source that lists what its own tool `shop` bought, in time for the next step; it may be slow, fail or clash.
 */
function createShop(agent: string): ToolSource {
  const stock: string[] = [];
  const listeners = new Set<() => void>();
  const shop = defineTool(
    { name: "shop", description: "Buys a tool.", inputSchema: z.object({ name: z.string() }) },
    ({ name }) => {
      if (name === "nothing") stock.length = 0;
      else stock.push(name);
      for (const notify of listeners) notify();
      return `bought ${name}`;
    },
  );
  return {
    name: `the shop of ${agent}`,
    async list() {
      await new Promise((resolve) => setTimeout(resolve, 5));
      if (stock.includes("trouble")) throw new Error("The shop is closed.");
      return [shop, ...stock.map((name) => createGiftTool(name))];
    },
    subscribe(onChange) {
      listeners.add(onChange);
      return () => listeners.delete(onChange);
    },
  };
}

class BrokenSource implements ToolSource {
  readonly name = "a broken source";

  async list(): Promise<never> {
    throw new Error("Nothing is here.");
  }
}

/** A synchronous source: its tools are available at once. */
const counter = new MutableToolSource("the counter");
counter.add(createGiftTool("from_counter"));

const system = new AgentSystem({ defaultModel: "scripted:default" })
  .defaults()
  .addDriver({ name: "echo", create: () => new EchoDriver() })
  .addTool(createRingTool("ring", false))
  .addTool(createRingTool("ring_again", true))
  .addToolSource(({ agent }) => createShop(agent), ["shop"])
  .addToolSource(() => new BrokenSource(), ["shop"])
  .addToolSource(() => counter, ["shop"])
  .addAgent({ name: "echoing", description: "Driven by the echo driver.", driver: "echo", tags: ["default"] })
  .addAgent({ name: "shopper", description: "Has tools that come and go.", tags: ["default", "shop"] })
  .export();

export const { Agency, User, Supervision, handler } = system;
export default handler;

export class Think extends system.Think {
  constructor(...args: ConstructorParameters<typeof system.Think>) {
    super(...args);
    const { MODELS } = this.env;
    // The binding that reaches loopback.
    if (MODELS) fetchThroughHost = (url, init) => MODELS.fetch(url, init);
  }
}
