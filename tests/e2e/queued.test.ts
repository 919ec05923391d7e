import { afterAll, beforeAll, expect, test } from "vitest";
import { type HostProcess, startHostProcess } from "../kit/host-process.ts";
import { type ModelServer, openModelServer } from "../kit/model-server.ts";
import { waitUntil } from "../kit/wait-until.ts";

let host: HostProcess;
let server: ModelServer;
const params = { agency: "global", agent: "alice" };

beforeAll(async () => {
  server = await openModelServer();
  host = await startHostProcess({ env: { LLM_API_BASE: `${server.url}/v1`, LLM_API_KEY: "key" } });
  await host.client.call("createAgent", {
    params: { agency: "global" },
    body: { name: "alice", model: "openai:test-model" },
  });
});

afterAll(async () => {
  await host?.stop();
  await server?.stop();
});

test("a message that was canceled in the queue stays in the history and is not sent to the model", async () => {
  server.answer([{ text: ["one ", "two"], fault: { kind: "stall", phase: "text" } }, { text: "Third." }]);
  const say = (message: string) => host.client.call("invoke", { params, body: { message } });
  await say("first words");
  await waitUntil("the model call", () => server.countCalls() === 1);
  const second = await say("second words");
  expect(second).toMatchObject({ status: "registered", position: 1 });
  expect(await host.client.call("cancelTurn", { params, body: { runId: second.runId } })).toEqual({
    runId: second.runId,
    status: "canceled",
  });
  await host.client.call("cancelTurn", { params, body: {} });
  await say("third words");

  const messages = await waitUntil("the last turn to end", async () => {
    const { messages: current } = await host.client.call("listMessages", { params });
    return current.at(-1)?.content === "Third." ? current : undefined;
  });
  expect(messages.map(({ role, content, status }) => [role, content, status])).toEqual([
    ["user", "first words", "complete"],
    ["user", "second words", "cancelled"],
    ["assistant", expect.stringContaining("one"), "cancelled"],
    ["user", "third words", "complete"],
    ["assistant", "Third.", "complete"],
  ]);
  const lastBody = JSON.stringify(server.listRequests().at(-1)?.body);
  expect(lastBody).toContain("third words");
  expect(lastBody).not.toContain("second words");
});
