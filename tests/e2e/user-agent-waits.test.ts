import type { AgentContext } from "@thinkery/sdk/agent";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { HostProcess } from "../kit/host-process.ts";
import { findMain } from "../kit/processes.ts";
import {
  deployAgent,
  listMessages,
  readLog,
  readState,
  startAgentHost,
  waitForApproval,
  waitForStatus,
} from "../kit/user-agent.ts";
import { waitUntil } from "../kit/wait-until.ts";

// Code that waits for a person: it is interrupted, and run again when there is an answer. Nothing happens twice.

let host: HostProcess;

beforeAll(async () => {
  host = await startAgentHost({
    scripts: {
      asking: [
        {
          steps: [
            { text: "Let me. " },
            { calls: ["echo free", "rm -f x"].map((command) => ({ tool: "bash", input: { command } })) },
          ],
        },
      ],
    },
  });
  const rules = [{ tool: "bash", match: "rm *", action: "ask" as const }];
  await host.client.call("putPolicy", { params: { agency: "global" }, body: { rules } });
});

afterAll(() => host?.stop());

const effects = {
  state: { runs: 0 },
  async onMessage({ content }: { content: string }, ctx: AgentContext) {
    ctx.setState({ runs: Number(ctx.state.runs) + 1 });
    const reply = ctx.reply();
    await reply.write("before ");
    ctx.log.info("first line");
    console.log("printed line");
    await ctx.fs.writeFile("count.txt", `${(await ctx.fs.exists("count.txt")) ? "again" : "once"} ${content}`);
    await ctx.storage.set("runs", Number((await ctx.storage.get("runs")) ?? 0) + 1);
    const free = await ctx.tools.execute("bash", { command: "echo free >> calls.txt; echo free" });
    const shell = await ctx.bash("echo shell >> calls.txt; wc -l < calls.txt");
    let result: string;
    try {
      result = await ctx.tools.execute("bash", { command: `rm -f ${content}` });
    } catch (error) {
      result = `${(error as Error).name}: ${(error as Error).message}`;
    }
    ctx.log.info("second line");
    await reply.write(`${free} ${shell.stdout.trim()} | ${result}`);
    await reply.end();
    await ctx.send(`runs: ${ctx.state.runs}, stored: ${await ctx.storage.get("runs")}`);
  },
};

const deployEffects = (name: string) =>
  deployAgent(host.client, name, effects, { capabilities: ["tools", "fs", "bash"] });

/** Returns what the agent has done, besides what it said. */
async function readEffects(agent: string) {
  const { client } = host;
  const params = { agency: "global", agent };
  const { actions } = await client.call("listActions", { params, query: { limit: 100 } });
  return {
    log: (await readLog(client, agent)).map(({ text }) => text).toSorted(),
    versions: (await client.agent(agent).versions()).versions.length,
    state: await readState(client, agent),
    calls: await (await client.agent(agent).file("calls.txt")).text(),
    actions: actions.map(({ tool }) => tool).toSorted(),
  };
}

const once = {
  log: ["first line", "printed line", "second line"],
  versions: 3,
  state: { runs: 1 },
  calls: "free\nshell\n",
  actions: ["bash", "bash", "bash", "readFile", "writeFile"],
};

test("a call that needs approval pauses the turn; approved, the code goes on and every effect happens once", async () => {
  const { client } = host;
  await deployEffects("careful");
  const agent = client.agent("careful");
  const turn = await agent.send("a.txt");
  const approval = await waitForApproval(client, "careful");
  expect(await waitForStatus(client, "careful", "paused")).toMatchObject({ runId: turn.runId, reason: "hitl" });
  expect(approval).toMatchObject({
    status: "pending",
    turn: turn.runId,
    calls: [{ name: "bash", args: { command: "rm -f a.txt" } }],
  });
  expect(await listMessages(client, "careful")).toEqual([
    ["user", "complete", "a.txt"],
    ["assistant", "complete", "before "],
    ["tool", "complete", "free"],
    ["assistant", "complete", ""],
  ]);
  // What the handler keeps is not kept yet.
  expect(await readState(client, "careful")).toEqual({});
  await agent.approve({ approvalId: approval.id, approved: true });
  const { status, content } = await turn.outcome();
  expect([status, content]).toEqual([
    "completed",
    "before free 2 | The command produced no output.\n\nruns: 1, stored: 1",
  ]);
  expect(await readEffects("careful")).toEqual(once);
  expect((await agent.versions()).versions.every(({ origin }) => "turn" in origin && origin.turn === turn.runId)).toBe(
    true,
  );
});

test("an answer counts that comes before the interrupted code has ended", async () => {
  const { client } = host;
  await deployAgent(
    client,
    "lingering",
    {
      async onMessage(_, ctx) {
        try {
          await ctx.send(await ctx.tools.execute("bash", { command: "rm -f x; echo removed" }));
        } catch (error) {
          // It takes its time, but less than it is given.
          await new Promise((resolve) => setTimeout(resolve, 500));
          throw error;
        }
      },
    },
    { capabilities: ["tools"] },
  );
  const agent = client.agent("lingering");
  const turn = await agent.send("Go.");
  const { id } = await waitForApproval(client, "lingering");
  await agent.approve({ approvalId: id, approved: true });
  expect((await turn.outcome()).content).toBe("removed");
});

test("a denied call is an error that the code can read, with the reason", async () => {
  const { client } = host;
  await deployEffects("denied");
  const agent = client.agent("denied");
  const turn = await agent.send("b.txt");
  const { id } = await waitForApproval(client, "denied");
  await agent.approve({ approvalId: id, approved: false, reason: "Not that one." });
  expect((await turn.outcome()).content).toBe(
    "before free 2 | ToolCallError: A person denied this call of bash, so it did not run. The reason given: Not that one.\n\nruns: 1, stored: 1",
  );
  expect(await readEffects("denied")).toEqual(once);
});

test("a call can be approved with another input", async () => {
  const { client } = host;
  await deployEffects("corrected");
  const agent = client.agent("corrected");
  const turn = await agent.send("c.txt");
  const { id, calls } = await waitForApproval(client, "corrected");
  const decisions = [{ callId: calls[0]?.id ?? "", approved: true, input: { command: "echo instead" } }];
  await agent.approve({ approvalId: id, approved: true, decisions });
  expect((await turn.outcome()).content).toContain("| instead");
});

test("several pauses in one turn, one of them in a loop, still repeat nothing", async () => {
  const { client } = host;
  await deployAgent(
    client,
    "looping",
    {
      async onMessage(_, ctx) {
        const reply = ctx.reply();
        for (let index = 0; index < 4; index++) {
          await ctx.bash(`echo ${index} >> log.txt`);
          // Two are asked about at the same time.
          const results = await Promise.all(
            ["x", "y"].map((name) => ctx.tools.execute("bash", { command: `rm -f ${name}${index}; echo ${name}` })),
          );
          ctx.log.info(`round ${index}`);
          await reply.write(`${results.join("")} `);
        }
        await reply.write(String(await ctx.fs.readFile("log.txt")));
      },
    },
    { capabilities: ["tools", "fs", "bash"] },
  );
  const agent = client.agent("looping");
  const turn = await agent.send("Go.");
  for (let index = 0; index < 4; index++) {
    const approval = await waitForApproval(client, "looping");
    expect(approval.calls).toHaveLength(2);
    await agent.approve({ approvalId: approval.id, approved: true });
  }
  expect((await turn.outcome()).content).toBe("xy xy xy xy 0\n1\n2\n3\n");
  expect((await readLog(client, "looping")).map(({ text }) => text)).toEqual([0, 1, 2, 3].map((n) => `round ${n}`));
});

test("a question to the user waits for its answer, which is the result of the call", async () => {
  const { client } = host;
  const schema = { type: "object", properties: { region: { enum: ["eu", "us"] } }, required: ["region"] };
  await deployAgent(
    client,
    "inquirer",
    {
      async onMessage({ content }, ctx) {
        const answer = await ctx.tools.execute("askUser", { prompt: "Which?", schema: JSON.parse(content) });
        await ctx.send(`${typeof answer} ${JSON.stringify(answer)}`);
      },
    },
    { capabilities: ["tools"] },
  );
  const agent = client.agent("inquirer");
  const turn = await agent.send(JSON.stringify(schema));
  expect(await waitForStatus(client, "inquirer", "paused")).toMatchObject({ reason: "input" });
  await expect(agent.answer({ region: "mars" })).rejects.toMatchObject({ code: "bad_request" });
  await agent.answer({ region: "eu" });
  expect((await turn.outcome()).content).toBe('object {"region":"eu"}');
});

test("a model's call that needs approval pauses the code that streams it, and what it said is not said again", async () => {
  const { client } = host;
  await deployAgent(
    client,
    "modeled",
    {
      async onMessage(_, ctx) {
        const reply = ctx.reply();
        for await (const event of ctx.ai.stream({ prompt: "Go.", model: "scripted:asking", tools: ctx.tools })) {
          if (event.type === "text") await reply.write(event.text);
          if (event.type === "tool-result") await reply.write(`${String(event.result)}; `);
        }
      },
    },
    { capabilities: ["ai", "tools"] },
  );
  const agent = client.agent("modeled");
  const turn = await agent.send("Hello.");
  const { id, calls } = await waitForApproval(client, "modeled");
  expect(calls).toHaveLength(1);
  await agent.approve({ approvalId: id, approved: true });
  expect((await turn.outcome()).content).toBe("Let me. free; The command produced no output.; ");
  // The model was asked once.
  expect((await agent.usage()).total.calls).toBe(1);
});

test("a turn that waits can be canceled; nothing of it is left, and the next one runs", async () => {
  const { client } = host;
  await deployEffects("abandoned");
  const agent = client.agent("abandoned");
  const turn = await agent.send("d.txt");
  const approval = await waitForApproval(client, "abandoned");
  await turn.cancel();
  expect((await turn.outcome()).status).toBe("canceled");
  expect(await agent.approvals({ status: "pending" })).toEqual([]);
  await expect(agent.approve({ approvalId: approval.id, approved: true })).rejects.toMatchObject({ code: "conflict" });
  expect(await readState(client, "abandoned")).toEqual({});
  const next = await agent.send("e.txt");
  await agent.approve({ approvalId: (await waitForApproval(client, "abandoned")).id, approved: true });
  expect((await next.outcome()).content).toMatch(/runs: 1, stored: 1$/);
});

test("a turn that waited through a restart of main continues with what its code has done before", async () => {
  const { client } = host;
  await deployEffects("patient");
  const agent = client.agent("patient");
  const turn = await agent.send("f.txt");
  const { id } = await waitForApproval(client, "patient");
  await waitForStatus(client, "patient", "paused");
  const main = await waitUntil("main", () => findMain(host.home));
  process.kill(main.pid, "SIGKILL");
  await waitUntil("another main", () => findMain(host.home, main.pid));
  await waitUntil("the approval to be accepted", () => agent.approve({ approvalId: id, approved: true }));
  expect((await turn.outcome()).content).toBe("before free 2 | The command produced no output.\n\nruns: 1, stored: 1");
  expect(await readEffects("patient")).toEqual(once);
});
