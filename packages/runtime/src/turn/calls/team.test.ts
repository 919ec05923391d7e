import type { NewChannelMessage, NewTeamTask } from "@thinkery/sdk";
import { expect, test } from "vitest";
import type { TeamPort } from "../team-port.ts";
import type { StepContext } from "./step-context.ts";
import { openTeam } from "./team.ts";

function openCall(keys: unknown[]) {
  const port = {
    post: async (_channel: string, { idempotencyKey }: NewChannelMessage) => keys.push(idempotencyKey),
    createTask: async (_task: NewTeamTask, key: string) => keys.push(key),
    leaveFeedback: async (_feedback: object, _runId: string, key: string) => keys.push(key),
  } as unknown as TeamPort;
  const context = { deps: { team: port, sandboxKey: "agent" }, runId: "run", record: () => {} };
  return openTeam({ callId: "call", toolName: "report" }, context as unknown as StepContext);
}

async function makeChanges(): Promise<unknown[]> {
  const keys: unknown[] = [];
  const team = openCall(keys);
  await team.send({ content: "one" });
  await team.send({ content: "two" });
  await team.createTask({ title: "Test it" });
  await team.createTask({ title: "Ship it" });
  await team.leaveFeedback({ message: "Good." });
  return keys;
}

test("a call may make several changes of a kind, and has the same keys when it is executed again", async () => {
  const key = "call:agent:run:call";
  expect(await makeChanges()).toEqual([key, `${key}:2`, key, `${key}:2`, key]);
  expect(await makeChanges()).toEqual(await makeChanges());
});
