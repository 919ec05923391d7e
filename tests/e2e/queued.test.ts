import { afterAll, beforeAll, expect, test } from "vitest";
import { type HostProcess, startHostProcess } from "../kit/host-process.ts";
import { type ModelServer, openModelServer } from "../kit/model-server.ts";
import { waitUntil } from "../kit/wait-until.ts";

let house: HostProcess;
let server: ModelServer;
const params = { agency: "global", agent: "alice" };

beforeAll(async () => {
  server = await openModelServer();
  house = await startHostProcess({ env: { LLM_API_BASE: `${server.url}/v1`, LLM_API_KEY: "key" } });
  await house.client.call("createAgent", {
    params: { agency: "global" },
    body: { name: "alice", model: "openai:test-model" },
  });
});

afterAll(async () => {
  await house?.stop();
  await server?.stop();
});

test("a message that was canceled while it waited stays readable, and no model is told of it", async () => {
  server.answer([{ text: ["one ", "two"], fault: { kind: "stall", phase: "text" } }, { text: "Third." }]);
  const say = (message: string) => house.client.call("invoke", { params, body: { message } });
  await say("first words");
  await waitUntil("the model to be asked", () => server.countCalls() === 1);
  const second = await say("second words");
  expect(second).toMatchObject({ status: "registered", position: 1 });
  expect(await house.client.call("cancelTurn", { params, body: { runId: second.runId } })).toEqual({
    runId: second.runId,
    status: "canceled",
  });
  await house.client.call("cancelTurn", { params, body: {} });
  await say("third words");

  const spoken = await waitUntil("the last turn to end", async () => {
    const { messages } = await house.client.call("listMessages", { params });
    return messages.at(-1)?.content === "Third." ? messages : undefined;
  });
  expect(spoken.map(({ role, content, status }) => [role, content, status])).toEqual([
    ["user", "first words", "complete"],
    ["user", "second words", "cancelled"],
    ["assistant", expect.stringContaining("one"), "cancelled"],
    ["user", "third words", "complete"],
    ["assistant", "Third.", "complete"],
  ]);
  const told = JSON.stringify(server.listRequests().at(-1)?.body);
  expect(told).toContain("third words");
  expect(told).not.toContain("second words");
});
