import { type CommandResult, type Linux, type ProcessInfo, type ToolContext, ToolError } from "@thinkery/sdk";
import { expect, test } from "vitest";
import { sandbox } from "./sandbox.ts";

const running: ProcessInfo = {
  id: "5fa3c1d0",
  command: "serve\n  --all",
  state: "running",
  startedAt: "",
  outputBytes: 3,
};

/** Calls the tool with a Linux sandbox that returns this result. */
async function callTool(
  input: unknown,
  result: Partial<CommandResult> = {},
  linux: Partial<Linux> = {},
): Promise<unknown> {
  const parsed = sandbox.inputSchema.parse(input);
  const run: Linux["run"] = async () => ({ exitCode: 0, output: "", ms: 1500, ...result });
  return sandbox.execute(parsed, {
    linux: { run, ...linux },
    signal: new AbortController().signal,
    reportProgress() {},
  } as unknown as ToolContext);
}

test("the result is the output, and the exit code if the command failed", async () => {
  expect(await callTool({ command: "x" }, { output: "hello\n" })).toBe("hello\n");
  expect(await callTool({ command: "x" })).toBe("The command produced no output.");
  expect(await callTool({ command: "x" }, { output: "oh\n\n", exitCode: 2 })).toBe("oh\n\nexit code 2");
  expect(await callTool({ command: "x" }, { exitCode: 139, endedBy: "signal" })).toBe("exit code 139");
  expect(await callTool({ command: "x" }, { exitCode: null, endedBy: "signal" })).toBe("ended by a signal");
  const empty = `${"\n".repeat(1_000_000)}x`;
  expect(await callTool({ command: "x" }, { output: empty, exitCode: 1 })).toBe(`${empty}\n\nexit code 1`);
});

test("notes about files are separate from the output", async () => {
  const notes = ["“a” is a link.", "“b” is too large."];
  expect(await callTool({ command: "x" }, { output: "hello\n", notes })).toBe(
    "hello\n\n[“a” is a link.]\n[“b” is too large.]",
  );
  expect(await callTool({ command: "x" }, { notes: ["n"] })).toBe("The command produced no output.\n\n[n]");
  expect(await callTool({ command: "x" }, { output: "oh\n", exitCode: 2, notes: ["n"] })).toBe(
    "oh\n\n[n]\n\nexit code 2",
  );
  await expect(callTool({ command: "x" }, { exitCode: null, endedBy: "stop", notes: ["n"] })).rejects.toThrow(
    "[n]\n\nThe command was stopped.",
  );
  const linux: Partial<Linux> = {
    start: async () => ({ ...running, notes }),
    read: async () => ({ ...running, output: "out", notes: ["n"] }),
    stop: async () => ({ ...running, notes: ["n"] }),
  };
  expect(await callTool({ command: "x", background: true }, {}, linux)).toContain("5fa3c1d0.\n\n[“a” is a link.]");
  expect(await callTool({ process: "5fa3c1d0" }, {}, linux)).toContain("out\n\n[n]");
  expect(await callTool({ process: "5fa3c1d0", stop: true }, {}, linux)).toContain("\n\n[n]");
});

test.each([
  ["timeout", "timeout", "out\n\nThe command did not finish within 1.5 s and was stopped."],
  [
    "memory_limit",
    "limit",
    "out\n\nThe command was killed because it exceeded its memory limit, which all of its processes share. Process less data at once, or run fewer processes in parallel.",
  ],
  [
    "process_limit",
    "limit",
    "out\n\nThe command was killed because it had too many processes or threads. Run fewer in parallel.",
  ],
  ["memory", "limit", "out\n\nThe command was killed because the machine ran out of memory."],
  ["disk", "limit", "out\n\nThe command was killed because the disk is almost full. Delete files you no longer need."],
  ["stop", "canceled", "out\n\nThe command was stopped."],
] as const)("a command ended by %s fails with its output so far", async (endedBy, errorCode, message) => {
  const error = await callTool({ command: "x" }, { exitCode: null, endedBy, output: "out\n" }).catch(
    (caught: unknown) => caught,
  );
  expect(error).toBeInstanceOf(ToolError);
  expect(error).toMatchObject({ code: errorCode, message });
});

test("processes are started, listed, read and stopped", async () => {
  const long = "x".repeat(40_000);
  const linux: Partial<Linux> = {
    start: async () => running,
    list: async () => [running, { ...running, id: "0badcafe", state: "exited", exitCode: 1 }],
    read: async () => ({ ...running, output: long }),
    stop: async () => ({ ...running, state: "exited", exitCode: null, endedBy: "stop" }),
  };
  expect(await callTool({ command: "x", background: true }, {}, linux)).toBe("Started process 5fa3c1d0.");
  expect(await callTool({}, {}, linux)).toBe(
    "process 5fa3c1d0, running: serve --all\nprocess 0badcafe, exit code 1: serve --all",
  );
  expect(await callTool({}, {}, { list: async () => [] })).toBe("You have no processes.");
  expect(await callTool({ process: "5fa3c1d0" }, {}, linux)).toBe(
    `process 5fa3c1d0, running: serve --all\n\n[… 10000 characters omitted …]\n${"x".repeat(30_000)}`,
  );
  expect(await callTool({ process: "5fa3c1d0" }, {}, { read: async () => ({ ...running, output: "" }) })).toContain(
    "It has produced no output.",
  );
  expect(await callTool({ process: "5fa3c1d0", stop: true }, {}, linux)).toBe("process 5fa3c1d0, stopped: serve --all");
});

test.each([
  [{ command: "x", process: "y" }, "process"],
  [{ background: true }, "background"],
  [{ timeoutMs: 5 }, "timeoutMs"],
  [{ command: "x", background: true, timeoutMs: 5 }, "timeoutMs"],
  [{ stop: true }, "stop"],
  [{ command: "" }, "command"],
  [{ comand: "x" }, undefined],
])("%j is rejected at the wrong field", (input, path) => {
  const { success, error } = sandbox.inputSchema.safeParse(input);
  expect(success).toBe(false);
  expect(error?.issues[0]?.path[0]).toBe(path);
});

test("the action log shows how much was written, never what", () => {
  expect(sandbox.summarize?.("secret\nmore\n")).toBe("2 lines");
  expect(sandbox.summarize?.("secret\n\nexit code 3")).toBe("1 line, exit code 3");
  expect(sandbox.summarize?.("exit code 3")).toBe("0 lines, exit code 3");
  expect(sandbox.summarize?.("The command produced no output.")).toBe("The command produced no output.");
  expect(sandbox.summarize?.("process 5fa3c1d0, running: serve\n\nsecret")).toBe("process 5fa3c1d0, running: serve");
  expect(sandbox.summarize?.(`${"a\n".repeat(100_000)}b`)).toBe("100001 lines");
  // A million empty lines must not take quadratic time.
  expect(sandbox.summarize?.(`${"\n".repeat(1_000_000)}x`)).toBe("1000001 lines");
});
