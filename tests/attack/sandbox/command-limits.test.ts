import { afterAll, beforeAll, expect, test as baseTest } from "vitest";
import { hasBubblewrap } from "../../kit/has-bubblewrap.ts";
import { findProgramProcesses } from "../../kit/processes.ts";
import { waitUntil } from "../../kit/wait-until.ts";
import { openTestbed, type Testbed } from "../../kit/worker/testbed.ts";

// Commands that start many processes. The limits are low, so that one that does not work is no danger to the machine.

const canRun = await hasBubblewrap();
if (!canRun) console.warn("Skipping tests: they need bubblewrap, which is not installed or not permitted.");
const test = baseTest.skipIf(!canRun);

const script = [
  { when: "/^hello$/", steps: [{ text: "hello" }] },
  { steps: [{ call: { tool: "sandbox", input: { command: "{{ message }}", timeoutMs: 30_000 } } }, { text: "after" }] },
];

let testbed: Testbed;

beforeAll(async () => {
  testbed = await openTestbed({
    worker: new URL("../../kit/worker/system.worker.ts", import.meta.url),
    config: { linux: { memoryMb: 200, maxProcessesPerCommand: 30 } },
    scripts: { default: script },
  });
});

afterAll(() => testbed?.stop());

test.each([
  ["a fork bomb", "bomb() { bomb | bomb & }; bomb; sleep 300", "too many processes or threads"],
  [
    "a memory hog of several processes",
    "echo 'x=$(head -c 40000000 /dev/zero | tr \"\\0\" x); read y' > a.sh; mkfifo p; for i in $(seq 6); do bash a.sh < p & done; sleep 300 > p",
    "memory limit",
  ],
])(
  "%s is ended with everything it started, the model is told, and others are served meanwhile",
  async (_, attack, reason) => {
    const mark = `mark-${Math.random().toString(36).slice(2)}`;
    const [attacker, bystander] = [await testbed.newAgent(), await testbed.newAgent()];
    let isOver = false;
    const attacking = attacker
      .invoke({ message: `: ${mark}; ${attack}` })
      .then(({ runId }) => attacker.waitForEnd(runId, 50_000))
      .finally(() => (isOver = true));
    let served = 0;
    while (!isOver) {
      expect(await bystander.say("hello")).toMatchObject({ type: "agent.completed", data: { result: "hello" } });
      served++;
    }
    expect(served).toBeGreaterThan(0);
    expect(await attacking).toMatchObject({ type: "agent.completed", data: { result: "after" } });
    const failed = (await attacker.log()).filter(({ type }) => type === "tool.error");
    expect(failed.map(({ data }) => data)).toMatchObject([
      { errorCode: "limit", error: expect.stringContaining(reason) },
    ]);
    await waitUntil("everything to be gone", () => findProgramProcesses(mark).length === 0);
  },
);
