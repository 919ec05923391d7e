import type { AgentEvent } from "@thinkery/sdk";
import { afterAll, beforeAll, expect, test } from "vitest";
import { waitUntil } from "../kit/wait-until.ts";
import { openTestbed, type Testbed, type TestAgent } from "../kit/worker/testbed.ts";

// Code that a model writes, from the tool call to what becomes of it, with everything real in between.

let workshop: Testbed;

beforeAll(async () => {
  const run = (more: object = {}) => [
    { call: { tool: "executeCode", input: { code: "{{ message }}", ...more } } },
    { text: "{{ results.0 }}" },
  ];
  workshop = await openTestbed({
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

afterAll(() => workshop?.stop());

const createCoder = (model = "scripted:code", more: object = {}) => workshop.newAgent({ model, ...more });

type CodeResult = Extract<AgentEvent, { type: "tool.output" | "tool.error" }>;

/** Has the agent run the code, and answers what became of the call; the turn has to go on after it. */
async function run(agent: TestAgent, code: string): Promise<CodeResult> {
  const { runId } = await agent.invoke({ message: code });
  const end = await agent.over(runId, 90_000);
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

test("it imports the modules it was given", async () => {
  const agent = await createCoder("scripted:modular");
  expect(
    await runForOutput(
      agent,
      'import { twice } from "./sums.ts";\nimport data from "./data.json";\nreturn twice(data.n)',
    ),
  ).toBe("42");
});

test("what goes wrong has its own kind, and its place in the model's code", async () => {
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
  expect(await runForError(hasty, "for (;;) {}")).toEqual(["timeout", "The run took more than 300 ms and was ended."]);
  // On a busy machine it may take a while until the first word is heard.
  expect(
    await runForError(
      await createCoder("scripted:patient"),
      "console.log('here'); await new Promise((resolve) => setTimeout(resolve, 200)); console.log('there'); await new Promise((resolve) => setTimeout(resolve, 60_000))",
    ),
  ).toEqual(["timeout", expect.stringContaining("console:\nhere")]);
  expect(await runForOutput(agent, "return 'still here'")).toBe("still here");
});

test("a run whose sandbox is killed says so, and its turn goes on", async () => {
  const agent = await createCoder();
  const running = run(
    agent,
    "await echo('ready'); await new Promise((resolve) => setTimeout(resolve, 4000)); return 'too late'",
  );
  await agent.seen("the run", ({ type }) => type === "capability.answered");
  const { body } = await workshop.api("/health");
  const slot = body.sandboxes.find((slot: { agent?: string }) => slot.agent === `global~${agent.name}`);
  expect(slot.runs).toBe(1);
  process.kill(slot.pid, "SIGKILL");
  const end = await running;
  expect(end.type === "tool.error" && [end.data.errorCode, end.data.error]).toEqual([
    "sandbox_lost",
    expect.stringContaining("sandbox of this run is gone"),
  ]);
  expect(await runForOutput(agent, "return 1")).toBe("1");
});

test("code calls the agent's tools through the gate: ledger, policy, action log, and never another run of code", async () => {
  const blueprint = await workshop.newBlueprint({
    tags: ["default"],
    model: "scripted:code",
    config: { policy: [{ tool: "write_todos", action: "deny" }] },
  });
  const agent = await workshop.newAgent({ blueprint });
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
    expect.stringContaining("by the model only"),
  ]);
  expect((await agent.state()).title).toBe("By code");
  const { body } = await workshop.api(`${agent.at}/actions`);
  expect(body.actions.map(({ tool, success }: { tool: string; success: boolean }) => [tool, success])).toEqual([
    ["executeCode", true],
    ["executeCode", false],
    ["settitle", false],
    ["set_title", false],
    ["write_todos", false],
    ["set_title", true],
  ]);
  // The model is told of its own call only.
  expect((await agent.messages()).filter(({ role }) => role === "tool")).toHaveLength(1);
});

test("runs of many agents at once all end, while two slots do the work", async () => {
  const agents = await Promise.all(Array.from({ length: 8 }, () => createCoder()));
  const ends = await Promise.all(
    agents.map(async (agent, index) => {
      const answers = [];
      for (let turn = 0; turn < 3; turn++) answers.push(await runForOutput(agent, `return ${index} * 10 + ${turn}`));
      return answers;
    }),
  );
  expect(ends).toEqual(agents.map((_, index) => [0, 1, 2].map((turn) => String(index * 10 + turn))));
}, 60_000);

test("a canceled run leaves its slot, and a deleted agent too", async () => {
  const endless = "await echo('ready'); await new Promise((resolve) => setTimeout(resolve, 60_000))";
  for (const end of ["cancel", "delete"] as const) {
    const agent = await createCoder();
    await agent.invoke({ message: endless });
    await agent.seen("the run", ({ type }) => type === "capability.answered");
    if (end === "cancel") await agent.cancel();
    else expect((await workshop.api(agent.at, "DELETE")).status).toBeLessThan(300);
    await waitUntil("its slot to be free", async () => {
      const { body } = await workshop.api("/health");
      return body.sandboxes.every((slot: { agent?: string }) => slot.agent !== `global~${agent.name}`);
    });
  }
});

test("main dies in the middle of a run: its outcome is unknown, what it called has an answer, and the slot is another process", async () => {
  const agent = await createCoder();
  const { runId } = await agent.invoke({
    message:
      "await echo('ready'); tools.hang({}).catch(() => {}); for (;;) await new Promise((resolve) => setTimeout(resolve, 10))",
  });
  await agent.seen("its call", (event) => event.type === "capability.called" && event.data.toolName === "hang");
  const before = (await workshop.api("/health")).body.sandboxes.map(
    ({ generation }: { generation: number }) => generation,
  );
  await workshop.restartMain();
  const end = await agent.over(runId, 90_000);
  expect(end.type).toBe("agent.completed");
  const events = await agent.log();
  const failed = events.find((event) => event.type === "tool.error");
  expect(failed?.type === "tool.error" && failed.data.errorCode).toBe("outcome_unknown");
  const answered = events.filter((event) => event.type === "capability.answered");
  expect(answered.map(({ data }) => [data.toolName, data.errorCode])).toEqual([
    ["echo", undefined],
    ["hang", "outcome_unknown"],
  ]);
  const after = (await workshop.api("/health")).body.sandboxes.map(
    ({ generation }: { generation: number }) => generation,
  );
  expect(after.every((generation: number, index: number) => generation > before[index])).toBe(true);
});
