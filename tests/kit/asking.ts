import type { Approval } from "@thinkery/sdk";
import { waitUntil } from "./wait-until.ts";
import type { TestAgent, Testbed } from "./worker/testbed.ts";

/** Waits until an agent asks for approval, and returns what it asks. */
export const waitForApproval = (testbed: Testbed, { at }: TestAgent): Promise<Approval> =>
  waitUntil("an approval", async () => {
    const { body } = await testbed.api(`${at}/approvals?status=pending`);
    return (body.approvals as Approval[])[0];
  });

/** Starts a turn that asks for approval. */
export async function startAsking(testbed: Testbed, message: string, blueprint: object, options: object = {}) {
  const agent = await testbed.newAgent({ blueprint: await testbed.newBlueprint(blueprint), ...options });
  const { runId } = await agent.invoke({ message });
  return { agent, runId, approval: await waitForApproval(testbed, agent) };
}

/** Returns the result of a turn, or its failure as JSON. */
export async function getResult(agent: TestAgent, runId: string): Promise<string> {
  const end = await agent.waitForEnd(runId);
  return end.type === "agent.completed" ? end.data.result : JSON.stringify(end.data);
}
