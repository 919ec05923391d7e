import type { AgentEvent } from "@thinkery/sdk";
import { afterAll, beforeAll, expect, test } from "vitest";
import { waitUntil } from "../kit/wait-until.ts";
import { openTestbed, type Testbed, type TestAgent } from "../kit/worker/testbed.ts";

// Code written by a model, end to end from the tool call to its result.

let testbed: Testbed;

beforeAll(async () => {
  const run = (options: object = {}) => [
    { call: { tool: "executeCode", input: { code: "{{ message }}", ...options } } },
    { text: "{{ results.0 }}" },
  ];
  testbed = await openTestbed({
    config: {
      sandboxSlots: 2,
      maxFailuresPerMinute: 100,
      sandbox: { timeoutSeconds: 60, memoryMb: 64 },
      turn: { heartbeatSeconds: 1 },
    },
    scripts: {
      code: [{ steps: run() }],
      hasty: [{ steps: run({ timeoutMs: 300 }) }],
      patient: [{ steps: run({ timeoutMs: 3000 }) }],
      modular: [
        {
          steps: run({
            modules: { "sums.ts": "export const twice = (n: number): number => n * 2;", "data.json": '{"n": 21}' },
          }),
        },
      ],
    },
  });
});

afterAll(() => testbed?.stop());

const createCoder = (model = "scripted:code") => testbed.newAgent({ model });

type CodeResult = Extract<AgentEvent, { type: "tool.output" | "tool.error" }>;

/** Has the agent run the code and returns the result of the call. The turn has to complete. */
async function run(agent: TestAgent, code: string): Promise<CodeResult> {
  const { runId } = await agent.invoke({ message: code });
  const end = await agent.waitForEnd(runId, 90_000);
  expect(end.type).toBe("agent.completed");
  const events = await agent.log();
  return events.find(
    (event): event is CodeResult =>
      (event.type === "tool.output" || event.type === "tool.error") && event.data.runId === runId,
  )!;
}

const runForOutput = async (agent: TestAgent, code: string) => {
  const end = await run(agent, code);
  return end.type === "tool.output" ? end.data.output : `failed: ${end.data.error}`;
};

const runForError = async (agent: TestAgent, code: string) => {
  const end = await run(agent, code);
  return end.type === "tool.error" ? [end.data.errorCode, end.data.error] : ["none", end.data.output];
};

test("a model's code runs, awaits, logs and returns", async () => {
  const agent = await createCoder();
  expect(await runForOutput(agent, "return 6 * 7")).toBe("42");
  expect(
    await runForOutput(
      agent,
      "const n: number = await Promise.resolve(20);\nconsole.log('half', n);\nreturn { n: n * 2 }",
    ),
  ).toBe('{"n":40}\n\nconsole:\nhalf 20');
  expect(await runForOutput(agent, "const nothing = 1")).toContain("returned nothing");
  expect(await runForOutput(agent, "return new Map([['a', 1n]])")).toBe("Map(1) { 'a' => 1n }");
});

test("code imports the modules passed with it", async () => {
  const agent = await createCoder("scripted:modular");
  expect(
    await runForOutput(
      agent,
      'import { twice } from "./sums.ts";\nimport data from "./data.json";\nreturn twice(data.n)',
    ),
  ).toBe("42");
});

test("each failure has its own error code, with the location in the model's code", async () => {
  const agent = await createCoder();
  expect(await runForError(agent, "const a = 1;\nlet b = ;")).toEqual(["syntax", expect.stringMatching(/code:2:9/)]);
  expect(await runForError(agent, "const a = 1;\n  a.b.c();")).toEqual([
    "threw",
    expect.stringMatching(/^TypeError: .*\n\s+at code:2:\d+$/),
  ]);
  expect(await runForError(agent, "throw 'just words'")).toEqual(["threw", expect.stringContaining("just words")]);
  expect(await runForError(agent, "const all = []; for (;;) all.push(new Array(1e5).fill({}))")).toEqual([
    "limit",
    expect.stringContaining("memory"),
  ]);
  const hasty = await createCoder("scripted:hasty");
  expect(await runForError(hasty, "for (;;) {}")).toEqual([
    "timeout",
    "The run did not finish within 300 ms and was stopped.",
  ]);
  // On a busy machine it may take a while until the first output arrives.
  expect(
    await runForError(
      await createCoder("scripted:patient"),
      "console.log('here'); await new Promise((resolve) => setTimeout(resolve, 200)); console.log('there'); await new Promise((resolve) => setTimeout(resolve, 60_000))",
    ),
  ).toEqual(["timeout", expect.stringContaining("console:\nhere")]);
  expect(await runForOutput(agent, "return 'still here'")).toBe("still here");
});

test("a run whose sandbox is killed reports it, and its turn continues", async () => {
  const agent = await createCoder();
  const running = run(
    agent,
    "await echo('ready'); await new Promise((resolve) => setTimeout(resolve, 4000)); return 'too late'",
  );
  await agent.waitForEvent("the run", ({ type }) => type === "capability.answered");
  const { body } = await testbed.api("/health");
  const slot = body.sandboxes.find((slot: { agent?: string }) => slot.agent === `global~${agent.name}`);
  expect(slot.runs).toBe(1);
  process.kill(slot.pid, "SIGKILL");
  const end = await running;
  expect(end.type === "tool.error" && [end.data.errorCode, end.data.error]).toEqual([
    "sandbox_lost",
    expect.stringContaining("sandbox of this run was lost"),
  ]);
  expect(await runForOutput(agent, "return 1")).toBe("1");
});

test("code calls the agent's tools through the gate (ledger, policy, action log) but cannot run more code", async () => {
  const blueprint = await testbed.newBlueprint({
    tags: ["default"],
    model: "scripted:code",
    config: { policy: [{ tool: "write_todos", action: "deny" }] },
  });
  const agent = await testbed.newAgent({ blueprint });
  const code = `
    const title = await tools.set_title({ title: "By code" });
    const failures = [];
    for (const attempt of [
      () => tools.write_todos({ todos: [] }),
      () => tools.set_title({ title: 5 }),
      () => tools.settitle({}),
      () => tools.executeCode({ code: "return 1" }),
    ]) await attempt().catch((error) => failures.push(error.message));
    return { title, failures };`;
  const { title, failures } = JSON.parse(await runForOutput(agent, code));
  expect(title).toContain("By code");
  expect(failures).toEqual([
    expect.stringContaining("denies write_todos"),
    expect.stringContaining("title"),
    expect.stringContaining("Did you mean set_title?"),
    expect.stringContaining("only be called by the model"),
  ]);
  expect((await agent.state()).title).toBe("By code");
  const { body } = await testbed.api(`${agent.at}/actions`);
  expect(body.actions.map(({ tool, success }: { tool: string; success: boolean }) => [tool, success])).toEqual([
    ["executeCode", true],
    ["executeCode", false],
    ["settitle", false],
    ["set_title", false],
    ["write_todos", false],
    ["set_title", true],
  ]);
  // The model sees only the result of its own call.
  expect((await agent.messages()).filter(({ role }) => role === "tool")).toHaveLength(1);
});

test("concurrent runs of many agents all complete on two slots", async () => {
  const agents = await Promise.all(Array.from({ length: 8 }, () => createCoder()));
  const results = await Promise.all(
    agents.map(async (agent, index) => {
      const outputs = [];
      for (let turn = 0; turn < 3; turn++) outputs.push(await runForOutput(agent, `return ${index} * 10 + ${turn}`));
      return outputs;
    }),
  );
  expect(results).toEqual(agents.map((_, index) => [0, 1, 2].map((turn) => String(index * 10 + turn))));
}, 60_000);

test("a canceled run and a deleted agent release their slots", async () => {
  const endless = "await echo('ready'); await new Promise((resolve) => setTimeout(resolve, 60_000))";
  for (const end of ["cancel", "delete"] as const) {
    const agent = await createCoder();
    await agent.invoke({ message: endless });
    await agent.waitForEvent("the run", ({ type }) => type === "capability.answered");
    if (end === "cancel") await agent.cancel();
    else expect((await testbed.api(agent.at, "DELETE")).status).toBeLessThan(300);
    await waitUntil("its slot to be free", async () => {
      const { body } = await testbed.api("/health");
      return body.sandboxes.every((slot: { agent?: string }) => slot.agent !== `global~${agent.name}`);
    });
  }
});

test("if main dies during a run, its outcome is unknown, its calls get results, and its slot gets a new process", async () => {
  const agent = await createCoder();
  const { runId } = await agent.invoke({
    message:
      "await echo('ready'); tools.hang({}).catch(() => {}); for (;;) await new Promise((resolve) => setTimeout(resolve, 10))",
  });
  await agent.waitForEvent("its call", (event) => event.type === "capability.called" && event.data.toolName === "hang");
  const before = (await testbed.api("/health")).body.sandboxes.map(
    ({ generation }: { generation: number }) => generation,
  );
  await testbed.restartMain();
  const end = await agent.waitForEnd(runId, 90_000);
  expect(end.type).toBe("agent.completed");
  const events = await agent.log();
  const failed = events.find((event) => event.type === "tool.error");
  expect(failed?.type === "tool.error" && failed.data.errorCode).toBe("outcome_unknown");
  const answered = events.filter((event) => event.type === "capability.answered");
  expect(answered.map(({ data }) => [data.toolName, data.errorCode])).toEqual([
    ["echo", undefined],
    ["hang", "outcome_unknown"],
  ]);
  // The turn may be over before the last process is replaced.
  await waitUntil("new processes in all slots", async () => {
    const { sandboxes } = (await testbed.api("/health")).body as { sandboxes: { generation: number }[] };
    return sandboxes.every(({ generation }, index) => generation > before[index]);
  });
});
