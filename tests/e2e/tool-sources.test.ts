import { afterAll, beforeAll, expect, test } from "vitest";
import { openTestbed, type Testbed, type TestAgent } from "../kit/worker/testbed.ts";

// Tool sources that change while an agent works: changes take effect in the next step.

const call = (tool: string, input: object = {}) => ({ call: { tool, input } });
const createPurchase = (name: string) => call("shop", { name });

let testbed: Testbed;

beforeAll(async () => {
  testbed = await openTestbed({
    worker: new URL("../kit/worker/drivers.worker.ts", import.meta.url),
    scripts: {
      default: [
        { when: "^buy", steps: [createPurchase("kite"), call("kite"), { text: "{{ results.kite }}" }] },
        { when: "^again", steps: [call("kite"), { text: "{{ results.kite }}" }] },
        { when: "^lose", steps: [createPurchase("nothing"), call("kite"), { text: "{{ results.1 }}" }] },
        {
          when: "^clash",
          steps: [createPurchase("set_title"), createPurchase("boat"), call("boat"), { text: "{{ results.boat }}" }],
        },
        { when: "^fail", steps: [createPurchase("trouble"), call("kite"), { text: "{{ results.kite }}" }] },
        { when: "^counter", steps: [call("from_counter"), { text: "{{ results.0 }}" }] },
      ],
    },
  });
});

afterAll(() => testbed?.stop());

const createShopper = () => testbed.newAgent({ blueprint: "shopper" });

async function say(agent: TestAgent, message: string): Promise<string> {
  const { type, data } = await agent.say(message);
  expect(type).toBe("agent.completed");
  return (data as { result: string }).result;
}

const listTools = async (agent: TestAgent): Promise<string[]> =>
  (await agent.state()).tools.map((tool: { name: string } | string) => (typeof tool === "string" ? tool : tool.name));

test("a tool that a source adds can be called in the next step and in later turns, by this agent only", async () => {
  const agent = await createShopper();
  expect(await say(agent, "buy")).toBe("from kite");
  expect(await say(agent, "again")).toBe("from kite");
  const other = await createShopper();
  expect(await say(other, "again")).toMatch(/There is no tool “kite”/);
});

test("a tool that a source removes is unknown from the next step on", async () => {
  const agent = await createShopper();
  await say(agent, "buy");
  expect(await say(agent, "lose")).toMatch(/There is no tool “kite”/);
});

test("a tool whose name is taken is skipped, and the other tools of its source are available", async () => {
  const agent = await createShopper();
  expect(await say(agent, "clash")).toBe("from boat");
  expect((await listTools(agent)).filter((name) => name === "set_title")).toHaveLength(1);
});

test("a source that fails keeps its previous tools, and one that never worked does not affect the agent", async () => {
  const agent = await createShopper();
  await say(agent, "buy");
  expect(await say(agent, "fail")).toBe("from kite");
  expect(await say(agent, "counter")).toBe("from from_counter");
});

test("tags select tool sources just like tools", async () => {
  const agent = await testbed.newAgent({ blueprint: "think" });
  expect(await listTools(agent)).not.toContain("shop");
  expect(await listTools(await createShopper())).toContain("shop");
});
