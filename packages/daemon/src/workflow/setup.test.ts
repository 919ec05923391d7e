import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { SetupStep, ThinkeryError } from "@thinkery/sdk";
import { afterEach, beforeEach, expect, test } from "vitest";
import { waitUntil } from "../../../../tests/kit/wait-until.ts";
import { runSetup } from "./setup.ts";

let cwd: string;

beforeEach(async () => {
  cwd = await mkdtemp(join(tmpdir(), "thinkery-setup-"));
});

afterEach(() => rm(cwd, { recursive: true }));

const values = { workflow: { name: "review", tag: "pr-1" }, env: { USER: "ann" }, vars: { branch: "main; x" } };

async function runSteps(steps: SetupStep[], options: { signal?: AbortSignal; maxOutputBytes?: number } = {}) {
  const seen: string[] = [];
  const env = { PATH: process.env.PATH, GREETING: "hello" };
  const { signal = new AbortController().signal, ...limits } = options;
  const outputs = await runSetup({
    steps,
    values,
    cwd,
    env,
    signal,
    ...limits,
    listener: {
      onStep: ({ number, count, name, command }) => seen.push(`${number}/${count} ${name ?? "-"} ${command}`),
      onErrorLine: (line) => seen.push(`err ${line}`),
      onResult: ({ output }) => seen.push(`out ${output}`),
    },
  }).catch((error: ThinkeryError) => error);
  return { outputs, seen };
}

async function getError(steps: SetupStep[], options?: Parameters<typeof runSteps>[1]): Promise<ThinkeryError> {
  const { outputs } = await runSteps(steps, options);
  expect(outputs).toBeInstanceOf(Error);
  return outputs as ThinkeryError;
}

test("steps run in order in the working folder, with the outputs of the steps before them", async () => {
  const { outputs, seen } = await runSteps([
    { shell: "printf '\\n  %s ${{ workflow.name }}\\n\\n' \"$GREETING\"", as: "greeting" },
    { shell: "echo working >&2; echo '${{ greeting }}' > file; pwd" },
    { shell: "cat file; printf '\\303\\244'", as: "copy" },
  ]);
  expect(outputs).toEqual({ greeting: "hello review", copy: "hello review\nä" });
  expect(seen).toEqual([
    "1/3 greeting printf '\\n  %s review\\n\\n' \"$GREETING\"",
    "out hello review",
    "2/3 - echo working >&2; echo 'hello review' > file; pwd",
    "err working",
    expect.stringMatching(/^out .*thinkery-setup-/),
    "3/3 copy cat file; printf '\\303\\244'",
    "out hello review\nä",
  ]);
});

test("an output that looks like a placeholder stays text", async () => {
  const { outputs } = await runSteps([
    { shell: "printf '$%s' '{{ vars.branch }}'", as: "one" },
    { shell: "printf %s '${{ one }}'", as: "two" },
  ]);
  expect(outputs).toEqual({ one: "${{ vars.branch }}", two: "${{ vars.branch }}" });
});

test("a failing step stops the setup with its exit code and what it said last", async () => {
  const shell = "for n in 1 2 3 4 5 6 7 8 9 10 11 12; do echo line $n >&2; done; exit 3";
  const error = await getError([{ shell: "true" }, { shell, as: "diff" }, { shell: "echo no > ran" }]);
  expect(error).toMatchObject({ code: "conflict" });
  expect(error.message).toBe(
    `Setup step 2 (diff) failed with exit code 3, so the workflow was not started:\n${[3, 4, 5, 6, 7, 8, 9, 10, 11, 12].map((n) => `line ${n}`).join("\n")}`,
  );
  await expect(readFile(join(cwd, "ran"))).rejects.toThrow("ENOENT");
  expect((await getError([{ shell: "exit 1" }])).message).toBe(
    "Setup step 1 failed with exit code 1, so the workflow was not started.",
  );
  expect((await getError([{ shell: "kill -9 $$" }])).message).toContain("was ended by SIGKILL");
});

test("a step that prints too much is ended, and one with just enough is not", async () => {
  const error = await getError([{ shell: "yes", as: "all" }]);
  expect(error.message).toBe(
    "Setup step 1 (all) printed more than 1 MB. Let it print less, or write to a file. The workflow was not started.",
  );
  const { outputs } = await runSteps([{ shell: "printf 12345", as: "all" }], { maxOutputBytes: 5 });
  expect(outputs).toEqual({ all: "12345" });
  expect((await getError([{ shell: "printf 123456" }], { maxOutputBytes: 5 })).message).toContain("more than 5 bytes");
});

test("an interrupt ends the step and everything that it started, also what ignores it", async () => {
  const abort = new AbortController();
  const shell = "trap '' TERM; echo $$ > pid; sleep 1000 & echo $! > child; wait; sleep 1000";
  const running = getError([{ shell }], { signal: abort.signal });
  const readPid = async (file: string) => Number(await readFile(join(cwd, file), "utf8"));
  const child = await waitUntil("the step to start", () => readPid("child"));
  abort.abort();
  expect((await running).message).toBe("Setup step 1 was interrupted. The workflow was not started.");
  for (const pid of [child, await readPid("pid")]) {
    await waitUntil("the process to end", () => {
      try {
        process.kill(pid, 0);
        return false;
      } catch {
        return true;
      }
    });
  }
});

test("a step that leaves something running does not wait for it", async () => {
  const { outputs } = await runSteps([{ shell: "sleep 5 & echo $!", as: "pid" }]);
  expect(outputs).toMatchObject({ pid: expect.stringMatching(/^\d+$/) });
  process.kill(Number((outputs as Record<string, string>).pid));
});

test("a step has no input, and the environment of the person who runs it", async () => {
  const { outputs } = await runSteps([{ shell: 'cat; printf %s "$GREETING|$HOME"', as: "env" }]);
  expect(outputs).toEqual({ env: "hello|" });
});
