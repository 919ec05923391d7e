import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import type { TurnEvent } from "@thinkery/sdk/client";
import { afterAll, beforeAll, expect, test } from "vitest";
import { cliPath, type HostProcess, startHostProcess } from "../kit/host-process.ts";
import { waitForExit } from "../kit/processes.ts";
import { spawnProgram } from "../kit/scripted-host.ts";
import { waitUntil } from "../kit/wait-until.ts";

// Live progress of code outside the page: in a program and at a terminal.

const code = `for (let round = 1; round <= 8; round++) {
  console.log("round " + round);
  await new Promise((resolve) => setTimeout(resolve, 80));
}
await tools.write_todos({ todos: "not a list" }).catch((error) => console.log("caught"));
return 42;`;

let host: HostProcess;

beforeAll(async () => {
  host = await startHostProcess();
  await mkdir(join(host.home, "scripts"));
  const run = (code: string) => ({ call: { tool: "executeCode", input: { code, timeoutMs: 60_000 } } });
  const script = [
    { when: "Run on", steps: [run(code.replace("round <= 8", ""))] },
    { steps: [run(code), { text: "It is {{ results.0 }}" }] },
  ];
  await writeFile(join(host.home, "scripts", "coder.yaml"), JSON.stringify(script));
  await host.client.call("createAgent", {
    params: { agency: "global" },
    body: { name: "coder", model: "scripted:coder" },
  });
});

afterAll(() => host?.stop());

const rounds = Array.from({ length: 8 }, (_, index) => `round ${index + 1}\n`).join("");

test("a program receives the output and calls of code while it runs", async () => {
  const turn = await host.client.agent("coder").send("Run it.");
  const events: TurnEvent[] = [];
  for await (const event of turn) events.push(event);
  const call = events.find((event) => event.type === "tool_call")?.call.id;
  const progress = events.filter((event) => event.type === "progress");
  expect(new Set(progress.map(({ callId }) => callId))).toEqual(new Set([call]));
  // Output written at the very end arrives with the result.
  const written = progress.map(({ text }) => text).join("");
  expect(`${rounds}caught\n`.startsWith(written)).toBe(true);
  expect(written).toContain("round 3\n");
  const capabilities = events.filter((event) => event.type === "capability");
  expect(
    capabilities.map(({ callId, capability: { name, state, errorCode } }) => [callId, name, state, errorCode]),
  ).toEqual([
    [call, "write_todos", "running", undefined],
    [call, "write_todos", "failed", "invalid_input"],
  ]);
  const order = events.map(({ type }) => type).filter((type, index, all) => type !== all[index - 1]);
  expect(order).toEqual(["started", "tool_call", "progress", "capability", "tool_result", "text"]);
  expect((await turn.outcome()).content).toBe(`It is 42\n\nconsole:\n${rounds}caught`);
});

test("piped output shows the code on one line with its calls, and no live progress", async () => {
  const { code: exitCode, stderr } = await host.runCli(["run", "coder", "Run it."]);
  expect(exitCode).toBe(0);
  const lines = stderr.trimEnd().split("\n");
  expect(lines[0]).toBe("· executeCode for (let round = 1; round <= 8; round++) { (6 lines)");
  expect(lines[1]).toMatch(/^ {2}· write_todos \{"todos":"not a list"\} → failed: .* \(\d+ ms\)$/);
  expect(lines[2]).toMatch(/^ {2}→ 42 console: round 1 /);
  expect(lines).toHaveLength(3);
  const { stdout, stderr: waitStderr } = await host.runCli(["send", "coder", "--wait", "Run it."]);
  expect(stdout).toMatch(/^It is 42\n/);
  expect(waitStderr).toBe("");
});

test("a terminal shows every line as it is written", async () => {
  for (const command of ["run coder Run it.", "send coder --wait Run it."]) {
    const { child, out } = spawnProgram(host, "script", [
      "-qec",
      `exec '${process.execPath}' '${cliPath}' ${command}`,
      "/dev/null",
    ]);
    const read = () => stripVTControlCharacters(out()).replaceAll("\r\n", "\n");
    await waitUntil("the third round", () => read().includes("  │ round 3\n"));
    expect(read()).not.toContain("It is 42");
    expect(await waitForExit(child)).toBe(0);
    expect(read()).toMatch(
      /^· executeCode for .*\n {2}│ round 1\n {2}│ round 2\n[\s\S]* {2}· write_todos .*\n(?: {2}│ .*\n)* {2}→ 42 console: round 1 .*\nIt is 42\n/,
    );
  }
});

test("status shows the sandboxes", async () => {
  const turn = await host.client.agent("coder").send("Run on.");
  for await (const event of turn) if (event.type === "progress") break;
  const { stdout } = await host.runCli(["status"]);
  expect(stdout).toMatch(/^sandboxes +2 of 2 ready$/m);
  expect(stdout).toMatch(/^ +sandbox-\d: running code of coder@global, \d+ MB, \d+ runs?(, \d+ restarts?)?$/m);
  expect(stdout).toMatch(/^ +sandbox-\d: idle, \d+ MB/m);
  await turn.cancel();
  expect((await turn.outcome()).status).toBe("canceled");
});
