import { defineTool } from "@thinkery/sdk";
import { expect, test } from "vitest";
import { z } from "zod";
import { digestCalls } from "./call-digest.ts";
import { prepareDecidedCall } from "./decided-call.ts";

const tool = defineTool(
  { name: "pay", aliases: ["send_money"], description: "Pays.", inputSchema: z.object({ amount: z.number() }) },
  () => "Paid.",
);

/** Prepares a call that was approved with an amount of 5. `changed` is what the stored approval has by then. */
async function prepare(changed: { name?: string; args?: object } = {}) {
  const approvedArgs = { amount: 5 };
  const call = { id: "c1", name: "pay", args: approvedArgs, ...changed };
  const digest = digestCalls([{ name: "pay", input: approvedArgs }]);
  const refused: unknown[] = [];
  const scope = {
    find: () => ({ tool }),
    step: { deps: { config: undefined }, middleware: { has: () => false }, record: () => {} },
    log: { createRefusedEvents: (_: unknown, failure: unknown) => refused.splice(0, 1, failure) },
  };
  const approval = { id: "a1", status: "approved", calls: [call], digest };
  const decided = { approval, call, decision: { approved: true } };
  const requested = { id: "c1", name: call.name, input: call.args };
  const prepared = await prepareDecidedCall(requested as never, decided as never, scope as never);
  return { prepared, refused };
}

test("an approved call runs as it was approved", async () => {
  const { prepared, refused } = await prepare();
  expect([prepared, refused]).toEqual([{ id: "c1", tool, input: { amount: 5 }, isApproved: true }, []]);
});

test.each([
  ["another amount", { args: { amount: 500 } }],
  ["another tool", { name: "refund" }],
  ["the name of an alias", { name: "send_money" }],
  ["an added field", { args: { amount: 5, to: "mallory" } }],
])("a call whose approval has %s than its digest is refused", async (_, changed) => {
  const { prepared, refused } = await prepare(changed);
  expect(prepared).toBeUndefined();
  expect(refused).toEqual([
    { code: "denied", message: "The call is not the one that was approved, so it did not run. Ask again." },
  ]);
});
