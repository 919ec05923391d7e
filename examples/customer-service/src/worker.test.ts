import { startHost, type TestHost } from "@thinkery/sdk/test";
import { afterAll, beforeAll, expect, test } from "vitest";

// One model for each thing a model might do, well or badly.
const scripts = {
  hasty: [
    {
      steps: [
        { call: { tool: "refundOrder", input: { id: "A100", reason: "Asked." } } },
        { text: "{{ results.refundOrder }}" },
      ],
    },
  ],
  careful: [
    {
      steps: [
        { call: { tool: "lookupOrder", input: { id: "{{ message }}" } } },
        { call: { tool: "refundOrder", input: { id: "{{ message }}", reason: "Asked." } } },
        { text: "{{ results.lookupOrder.status }}: {{ results.refundOrder }}" },
      ],
    },
  ],
  clerk: [
    {
      steps: [
        { call: { tool: "checkInventory", input: { sku: "{{ message }}" } } },
        { text: "{{ results.checkInventory }}" },
      ],
    },
  ],
  support: new URL("../scripts/support.yaml", import.meta.url),
};

let host: TestHost;

beforeAll(async () => {
  host = await startHost({ worker: new URL("./worker.ts", import.meta.url), scripts });
});

afterAll(() => host?.stop());

async function reply(agent: string, message: string): Promise<string> {
  const outcome = await (await host.client.agent(agent).send(message)).outcome();
  expect(outcome).toMatchObject({ status: "completed" });
  return outcome.content;
}

test("an order is refunded after it was looked up, and only once, also across a crash", async () => {
  await host.agent("sam", { model: "scripted:careful" });
  expect(await reply("sam", "A100")).toBe('delivered: {"id":"A100","refundedUsd":84}');
  await host.kill();
  expect(await reply("sam", "A100")).toContain("was refunded already");
});

test("without a look at the order no money is paid, whatever the model wants", async () => {
  await host.agent("hasty", { model: "scripted:hasty" });
  expect(await reply("hasty", "Refund A100!")).toContain("has not been looked up");
});

test("an order that is not delivered is not refunded, and one there is not is not found", async () => {
  await host.agent("ann", { model: "scripted:careful" });
  expect(await reply("ann", "A101")).toMatch(/^shipped: .*only delivered orders/);
  await host.agent("clerk", { model: "scripted:clerk" });
  expect(await reply("clerk", "fairy-lights")).toBe('{"sku":"fairy-lights","count":140}');
  expect(await reply("clerk", "chandelier")).toContain(
    "does not sell chandelier. It sells lantern, desk-lamp, fairy-lights",
  );
});

test("without a key the shop's own script plays, as the class says", async () => {
  const zoe = await host.agent("zoe");
  expect(await reply("zoe", "Hello")).toContain("Welcome to the Lantern Shop");
  expect(await reply("zoe", "What do you have in stock?")).toBe("We have 12 lanterns and 0 desk lamps.");
  expect(await reply("zoe", "Where is my order?")).toBe("Your order A101 is shipped.");
  expect(await reply("zoe", "A refund for A101, please")).toContain("only delivered orders are refunded");
  expect(await reply("zoe", "Then a refund for A100")).toContain('"refundedUsd":84');
  expect((await zoe.state()).state.tools.map(({ name }) => name)).toEqual(
    expect.arrayContaining(["lookupOrder", "refundOrder", "checkInventory", "set_title"]),
  );
});
