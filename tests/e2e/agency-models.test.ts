import { afterAll, beforeAll, expect, test } from "vitest";
import { type ModelServer, openModelServer } from "../kit/model-server.ts";
import { openTeam } from "../kit/team.ts";
import { waitUntil } from "../kit/wait-until.ts";
import { openTestbed, type Testbed } from "../kit/worker/testbed.ts";

let testbed: Testbed;
let models: ModelServer;

const model = "openai:test-model";

beforeAll(async () => {
  models = await openModelServer();
  models.answer(() => ({ text: "Handled." }));
  testbed = await openTestbed({
    config: { model },
    env: { LLM_API_BASE: `${models.url}/v1`, LLM_API_KEY: "sk-test" },
  });
}, 60_000);

afterAll(async () => {
  await testbed?.stop();
  await models?.stop();
});

/** Uses everything that an agency has, for two agents. */
async function useTeam({ api, post }: Awaited<ReturnType<typeof openTeam>>): Promise<void> {
  await post("@alice and @bob, look at this.");
  await post("x".repeat(70_000), { to: "alice", priority: "high" });
  await api("/channels", "POST", { name: "plans", description: "What to do next." });
  await api("/channels/plans/messages", "POST", { content: "@bob, what next?" });
  await api("/channels/@alice/messages", "POST", { content: "Between us." });
  await api("/documents", "POST", { edits: [{ write: "plan.md", content: "# Plan\n" }] });
  await api("/resources", "POST", { content: "a long text" });
  const first = await api("/tasks", "POST", { title: "Build it" });
  await api("/tasks", "POST", { title: "Test it", dependencies: [first.id] });
  await api(`/tasks/${first.id}/claim`, "POST", { agent: "alice" }, 200);
  await api("/feedback", "POST", { message: "Good work.", rating: 5 });
  await api("/tools/lookup", "PUT", { tool: { name: "lookup", mock: 1 } });
  await api("", "PATCH", { name: "Team", settings: { maxAttempts: 2 }, vars: { a: "b" } });
  await api("/blueprints", "POST", { name: "critic", description: "Criticizes.", prompt: "Criticize." });
  for (const path of ["", "/members", "/usage", "/channels", "/tasks", "/tools", "/feedback", "/agent/alice/tools"])
    await api(path);
}

/** Counts the requests in the logs of agents. */
async function countLogged(paths: string[]): Promise<number> {
  const logs = await Promise.all(paths.map((path) => testbed.agentAt(path, path).log()));
  return logs.flat().filter(({ type }) => type === "model.started").length;
}

test("an agency sends no request to a model: all that arrive are in the logs of its agents", async () => {
  const team = await openTeam(testbed, {});
  for (const name of ["alice", "bob"]) {
    await team.api("/agents", "POST", { name, model });
    await team.api(`/agent/${name}/stop`, "POST", {}, 200);
  }
  await useTeam(team);
  // Without a kickoff, its agents have nothing to do.
  const workflow = { name: "calm", agents: { one: { model }, two: { model } }, context: { channels: ["news"] } };
  for (const run of [{ tag: "once" }, { tag: "resident", resident: true }])
    expect((await testbed.api("/workflow-runs", "POST", { workflow, ...run })).status).toBe(202);
  await waitUntil("the run to end", async () => {
    const { body } = await testbed.api("/agency/calm:once/workflow");
    return body.status === "completed";
  });
  const open = (await team.inbox("alice", "open")).length + (await team.inbox("bob", "open")).length;
  // With the one that tells alice about her task.
  expect(open).toBe(6);
  expect(models.countCalls()).toBe(0);

  for (const name of ["alice", "bob"]) await team.api(`/agent/${name}/start`, "POST", {}, 200);
  await team.settle("alice", "bob");
  await testbed.restartMain();
  await waitUntil("the agency", async () => (await testbed.api(team.at)).status === 200);
  expect(models.countCalls()).toBeGreaterThan(1);
  expect(models.countCalls()).toBe(await countLogged(["alice", "bob"].map((name) => `${team.at}/agent/${name}`)));
});
