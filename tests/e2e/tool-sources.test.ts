import { afterAll, beforeAll, expect, test } from "vitest";
import { openWorkshop, type Workshop, type WorkshopAgent } from "../kit/worker/workshop.ts";

// Tools that come and go while an agent works: what a source lists is there from the next step on.

const call = (tool: string, input: object = {}) => ({ call: { tool, input } });
const buy = (name: string) => call("shop", { name });

let workshop: Workshop;

beforeAll(async () => {
  workshop = await openWorkshop({
    worker: new URL("../kit/worker/drivers.worker.ts", import.meta.url),
    scripts: {
      default: [
        { when: "^buy", steps: [buy("kite"), call("kite"), { text: "{{ results.kite }}" }] },
        { when: "^again", steps: [call("kite"), { text: "{{ results.kite }}" }] },
        { when: "^lose", steps: [buy("nothing"), call("kite"), { text: "{{ results.1 }}" }] },
        { when: "^clash", steps: [buy("set_title"), buy("boat"), call("boat"), { text: "{{ results.boat }}" }] },
        { when: "^fail", steps: [buy("trouble"), call("kite"), { text: "{{ results.kite }}" }] },
        { when: "^counter", steps: [call("from_counter"), { text: "{{ results.0 }}" }] },
      ],
    },
  });
});

afterAll(() => workshop?.stop());

const shopper = () => workshop.newAgent({ blueprint: "shopper" });

async function say(agent: WorkshopAgent, message: string): Promise<string> {
  const { type, data } = await agent.say(message);
  expect(type).toBe("agent.completed");
  return (data as { result: string }).result;
}

const tools = async (agent: WorkshopAgent): Promise<string[]> => (await agent.state()).tools.map((tool: { name: string } | string) => (typeof tool === "string" ? tool : tool.name));

test("a tool that a source gained can be called in the next step and in later turns, by this agent only", async () => {
  const agent = await shopper();
  expect(await say(agent, "buy")).toBe("from kite");
  expect(await say(agent, "again")).toBe("from kite");
  const other = await shopper();
  expect(await say(other, "again")).toMatch(/There is no tool “kite”/);
});

test("a tool that a source lost is unknown from the next step on", async () => {
  const agent = await shopper();
  await say(agent, "buy");
  expect(await say(agent, "lose")).toMatch(/There is no tool “kite”/);
});

test("a tool whose name is taken is left out, and the others of its source are there", async () => {
  const agent = await shopper();
  expect(await say(agent, "clash")).toBe("from boat");
  expect((await tools(agent)).filter((name) => name === "set_title")).toHaveLength(1);
});

test("a source that fails keeps what it had; one that never worked costs the agent nothing", async () => {
  const agent = await shopper();
  await say(agent, "buy");
  expect(await say(agent, "fail")).toBe("from kite");
  expect(await say(agent, "counter")).toBe("from from_counter");
});

test("tags select sources as they select tools", async () => {
  const agent = await workshop.newAgent({ blueprint: "think" });
  expect(await tools(agent)).not.toContain("shop");
  expect(await tools(await shopper())).toContain("shop");
});
