import { afterAll, beforeAll, expect, test } from "vitest";
import { cliPath } from "../kit/host-process.ts";
import { spawnProgram } from "../kit/scripted-host.ts";
import { waitUntil } from "../kit/wait-until.ts";
import { openTestbed, type Testbed } from "../kit/worker/testbed.ts";

// What the command line shows of the sub-agents of a turn, and how it reaches them.

let testbed: Testbed;
let letGoOn: (() => void) | undefined;

beforeAll(async () => {
  const call = (tool: string, input: object = {}) => ({ call: { tool, input } });
  testbed = await openTestbed({
    config: { model: "scripted:default", models: { fast: "scripted:fast" }, turn: { heartbeatSeconds: 1 } },
    scripts: {
      default: [
        {
          when: "/^delegate$/",
          steps: [
            {
              calls: [
                { tool: "task", input: { description: "Count the files", streaming: true } },
                { tool: "task", input: { description: "Ask the oracle" } },
              ],
            },
            { text: "They said: {{ results.0 }} and {{ results.1 }}" },
          ],
        },
      ],
      fast: [
        {
          when: "/^Count the files$/",
          steps: [
            call("writeFile", { path: "a.md", content: "x" }),
            call("ring_again", { bell: "BELL", id: "count" }),
            { text: "Three." },
          ],
        },
        { when: "/^Ask the oracle$/", steps: [{ fail: 401 }] },
        { steps: [{ text: "You said: {{ message }}" }] },
      ],
    },
  });
  testbed.bell.onRing = () => new Promise<void>((resolve) => (letGoOn = resolve));
});

afterAll(() => testbed?.stop());

const ringOnce = async () => {
  (await waitUntil("the ring", () => letGoOn))();
  letGoOn = undefined;
};

test("run prints a line when a sub-agent starts and one when it ends, and --json lists them", async () => {
  const { name } = await testbed.newAgent();
  const running = testbed.host().runCli(["run", name, "delegate"]);
  await ringOnce();
  const { code, stdout, stderr } = await running;
  expect([code, stdout]).toEqual([0, expect.stringMatching(/^They said: Three\. and The sub-agent failed: .*key/)]);
  const lines = stderr.split("\n").filter((line) => line.startsWith("↳"));
  expect(lines.slice(0, 2)).toEqual(["↳ Count the files  started", "↳ Ask the oracle  started"]);
  expect(lines.slice(2).toSorted()).toEqual([
    expect.stringMatching(/^↳ Ask the oracle {2}failed {2}\d+ steps? {2}\d+ s {2}.*key/),
    expect.stringMatching(/^↳ Count the files {2}complete {2}3 steps {2}\d+ s$/),
  ]);
  expect(stderr).not.toContain("\u001b");

  const other = await testbed.newAgent();
  const asJson = testbed.host().runCli(["run", other.name, "delegate", "--json"]);
  await ringOnce();
  const { subagents, status } = JSON.parse((await asJson).stdout);
  expect(status).toBe("completed");
  expect(subagents).toMatchObject([
    { title: "Count the files", status: "complete", steps: 3, result: "Three." },
    { title: "Ask the oracle", status: "failed", error: expect.stringContaining("key") },
  ]);

  const child = `${other.name}/${subagents[0].facetName}`;
  const answer = await testbed.host().runCli(["run", child, "hello"]);
  expect(answer).toMatchObject({ code: 0, stdout: "You said: hello\n" });
  expect(await testbed.host().runCli(["serve", child, "hello"])).toMatchObject({ stdout: "You said: hello\n" });
  expect((await testbed.host().runCli(["chat", child], { input: "hello again\n" })).stdout).toContain(
    "You said: hello again",
  );
  expect((await testbed.host().runCli(["peek", child, "-n", "20"])).stdout).toMatch(
    /^> Count the files\n.*You said: hello\n.*You said: hello again\n$/s,
  );
  expect((await testbed.host().runCli(["task", "ls", child])).stdout).toContain("✓ Count the files");
  expect(await testbed.host().runCli(["run", `${other.name}/nobody`, "hello"])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining(`Sub-agent “${other.name}/nobody” not found in global.`),
  });
});

test("on a terminal, a line for each sub-agent that works is drawn again and again", async () => {
  const { name } = await testbed.newAgent();
  const command = `${process.execPath} ${cliPath} run ${name} delegate`;
  const { child, out } = spawnProgram(testbed.host(), "script", ["-qec", command, "/dev/null"]);
  const exit = new Promise((resolve) => child.once("exit", resolve));
  await waitUntil("the call and the time", () =>
    /↳ Count the files {2}step 2 {2}[1-9]\d* s {2}ring_again http/.test(out()),
  );
  expect(out()).not.toContain("started");
  await ringOnce();
  await exit;
  expect(out()).toContain("\u001b[1A\r\u001b[J");
  expect(out()).toMatch(/↳ Count the files {2}complete {2}3 steps/);
  // The last thing drawn is erased before the answer is written.
  const end = out().slice(out().lastIndexOf("They said"));
  expect(end).not.toContain("step 2");
});
