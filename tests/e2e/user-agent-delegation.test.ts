import { afterAll, beforeAll, expect, test } from "vitest";
import type { HostProcess } from "../kit/host-process.ts";
import { findMain } from "../kit/processes.ts";
import { ask, deployAgent, runTurn, startAgentHost, waitForStatus } from "../kit/user-agent.ts";
import { waitUntil } from "../kit/wait-until.ts";

// User agents that delegate, and that others delegate to.

let host: HostProcess;

beforeAll(async () => {
  const greet = { tool: "task", input: { description: "Greet Bob.", subagentType: "greeter" } };
  host = await startAgentHost({
    scripts: {
      lead: [{ steps: [{ call: greet }, { text: "{{ results.task }}" }] }],
      worker: [{ steps: [{ wait: 300 }, { text: "The work is done." }] }],
    },
  });
  await host.client.call("putBlueprint", {
    params: { agency: "global" },
    body: { name: "worker", model: "scripted:worker" },
  });
});

afterAll(() => host?.stop());

test("a built-in agent delegates to a user agent, which works as its sub-agent with state of its own", async () => {
  const { client } = host;
  await deployAgent(client, "greeter", {
    state: { count: 0 },
    async onMessage({ content }, ctx) {
      ctx.setState({ count: ctx.state.count + 1 });
      await ctx.send(`${content} #${ctx.state.count} by ${ctx.agent.split("/")[0]}/…`);
    },
  });
  await client.call("createAgent", { params: { agency: "global" }, body: { name: "lead", model: "scripted:lead" } });
  expect(await ask(client, "lead")).toMatch(/Greet Bob\.[^]*#1 by global~lead\/…/);
  // Another task is another sub-agent.
  expect(await ask(client, "lead")).toMatch(/#1 by/);
});

test("a user agent delegates, is paused while its sub-agent works, and goes on with the report", async () => {
  const { client } = host;
  await deployAgent(
    client,
    "delegator",
    {
      state: { runs: 0 },
      async onMessage(_, ctx) {
        ctx.setState({ runs: ctx.state.runs + 1 });
        const reply = ctx.reply();
        void reply.write("Delegated. ");
        const report: unknown = await ctx.tools.execute("task", { description: "Work.", subagentType: "worker" });
        await reply.write(`Report: ${String(report)} Run ${ctx.state.runs}.`);
      },
    },
    { capabilities: ["tools"] },
  );
  const turn = runTurn(client, "delegator", "Go.");
  expect((await waitForStatus(client, "delegator", "paused")).reason).toBe("subagent");
  expect(await turn).toMatchObject({
    status: "completed",
    content: "Delegated. Report: The work is done. Run 1.",
  });
});

test("a kill of main while the sub-agent works neither repeats the delegation nor loses the report", async () => {
  const { client } = host;
  const turn = await client.agent("delegator").send("Again.");
  await waitForStatus(client, "delegator", "paused");
  const main = await waitUntil("main", () => findMain(host.home));
  process.kill(main.pid, "SIGKILL");
  expect(await turn.outcome()).toMatchObject({
    status: "completed",
    content: "Delegated. Report: The work is done. Run 2.",
  });
  const { subagents } = await client.call("listSubagents", { params: { agency: "global", agent: "delegator" } });
  expect(subagents).toHaveLength(2);
});
