import { startHost, type TestHost } from "@thinkery/sdk/test";
import { afterAll, beforeAll, expect, test } from "vitest";

// One scripted model per behavior, good or bad.
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

test("an order is refunded after it was looked up, and only once, even across a crash", async () => {
  await host.agent("sam", { model: "scripted:careful" });
  expect(await reply("sam", "A100")).toBe('delivered: {"id":"A100","refundedUsd":84}');
  await host.kill();
  expect(await reply("sam", "A100")).toContain("has already been refunded");
});

test("an order that was not looked up is not refunded, whatever the model wants", async () => {
  await host.agent("hasty", { model: "scripted:hasty" });
  expect(await reply("hasty", "Refund A100!")).toContain("has not been looked up");
});

test("an undelivered order is not refunded, and an unknown product is not found", async () => {
  await host.agent("ann", { model: "scripted:careful" });
  expect(await reply("ann", "A101")).toMatch(/^shipped: .*only delivered orders/);
  await host.agent("clerk", { model: "scripted:clerk" });
  expect(await reply("clerk", "fairy-lights")).toBe('{"sku":"fairy-lights","count":140}');
  expect(await reply("clerk", "chandelier")).toContain(
    "does not sell chandelier. It sells lantern, desk-lamp, fairy-lights",
  );
});

test("without an API key, the agent uses the shop's script", async () => {
  const zoe = await host.agent("zoe");
  expect(await reply("zoe", "Hello")).toContain("Welcome to the Lantern Shop");
  expect(await reply("zoe", "What do you have in stock?")).toBe("We have 12 lanterns and 0 desk lamps.");
  expect(await reply("zoe", "Where is my order?")).toBe("Your order A101 is shipped.");
  expect(await reply("zoe", "A refund for A101, please")).toContain("only delivered orders can be refunded");
  expect(await reply("zoe", "Then a refund for A100")).toContain('"refundedUsd":84');
  expect((await zoe.state()).state.tools.map(({ name }) => name)).toEqual(
    expect.arrayContaining(["lookupOrder", "refundOrder", "checkInventory", "set_title"]),
  );
});
