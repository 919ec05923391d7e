import { createTestAgent, type TestAgentOptions } from "../agent-test/agent-test.ts";
import type { TestTurn } from "../agent-test/test-turn.ts";
import { type AgentContext, defineAgent } from "./agent.ts";
import type { Data } from "./definition.ts";

/** Runs a message handler once, for tests. */
export function runHandler(
  onMessage: (ctx: AgentContext<Data, Data>) => unknown,
  options: TestAgentOptions = {},
): Promise<TestTurn> {
  const agent = defineAgent({
    async onMessage(_, ctx) {
      await onMessage(ctx as AgentContext<Data, Data>);
    },
  });
  return createTestAgent(agent, options).send("Hello");
}
