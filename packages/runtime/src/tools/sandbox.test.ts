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

/** What the tool answers, with a Linux sandbox that answers this. */
async function answer(
  input: unknown,
  result: Partial<CommandResult> = {},
  linux: Partial<Linux> = {},
): Promise<unknown> {
  const given = sandbox.inputSchema.parse(input);
  const run: Linux["run"] = async () => ({ exitCode: 0, output: "", ms: 1500, ...result });
  return sandbox.execute(given, {
    linux: { run, ...linux },
    signal: new AbortController().signal,
    progress() {},
  } as unknown as ToolContext);
}

test("a model is told what a command wrote, and how it ended where that was not well", async () => {
  expect(await answer({ command: "x" }, { output: "hello\n" })).toBe("hello\n");
  expect(await answer({ command: "x" })).toBe("It ran, and wrote nothing.");
  expect(await answer({ command: "x" }, { output: "oh\n\n", exitCode: 2 })).toBe("oh\n\nexit code 2");
  expect(await answer({ command: "x" }, { exitCode: 139, endedBy: "signal" })).toBe("exit code 139");
  expect(await answer({ command: "x" }, { exitCode: null, endedBy: "signal" })).toBe("ended by a signal");
  const empty = `${"\n".repeat(1_000_000)}x`;
  expect(await answer({ command: "x" }, { output: empty, exitCode: 1 })).toBe(`${empty}\n\nexit code 1`);
});

test("a model is told what became of the files, apart from what the command wrote", async () => {
  const notes = ["“a” is a link.", "“b” is too large."];
  expect(await answer({ command: "x" }, { output: "hello\n", notes })).toBe(
    "hello\n\n[“a” is a link.]\n[“b” is too large.]",
  );
  expect(await answer({ command: "x" }, { notes: ["n"] })).toBe("It ran, and wrote nothing.\n\n[n]");
  expect(await answer({ command: "x" }, { output: "oh\n", exitCode: 2, notes: ["n"] })).toBe(
    "oh\n\n[n]\n\nexit code 2",
  );
  await expect(answer({ command: "x" }, { exitCode: null, endedBy: "stop", notes: ["n"] })).rejects.toThrow(
    "[n]\n\nThe command was stopped.",
  );
  const linux: Partial<Linux> = {
    start: async () => ({ ...running, notes }),
    read: async () => ({ ...running, output: "out", notes: ["n"] }),
    stop: async () => ({ ...running, notes: ["n"] }),
  };
  expect(await answer({ command: "x", background: true }, {}, linux)).toContain("5fa3c1d0.\n\n[“a” is a link.]");
  expect(await answer({ process: "5fa3c1d0" }, {}, linux)).toContain("out\n\n[n]");
  expect(await answer({ process: "5fa3c1d0", stop: true }, {}, linux)).toContain("\n\n[n]");
});

test.each([
  ["timeout", "timeout", "out\n\nThe command did not end within 1.5 s and was ended."],
  ["memory", "limit", "out\n\nThe machine ran out of memory, and the command was ended."],
  ["disk", "limit", "out\n\nThe disk is almost full, and the command was ended. Remove what is not needed."],
  ["stop", "canceled", "out\n\nThe command was stopped."],
] as const)(
  "a command ended by %s has failed, and what it had written is told",
  async (endedBy, errorCode, message) => {
    const failed = await answer({ command: "x" }, { exitCode: null, endedBy, output: "out\n" }).catch(
      (error: unknown) => error,
    );
    expect(failed).toBeInstanceOf(ToolError);
    expect(failed).toMatchObject({ code: errorCode, message });
  },
);

test("processes are started, listed, read and stopped", async () => {
  const long = "x".repeat(40_000);
  const linux: Partial<Linux> = {
    start: async () => running,
    list: async () => [running, { ...running, id: "0badcafe", state: "exited", exitCode: 1 }],
    read: async () => ({ ...running, output: long }),
    stop: async () => ({ ...running, state: "exited", exitCode: null, endedBy: "stop" }),
  };
  expect(await answer({ command: "x", background: true }, {}, linux)).toBe("It runs as process 5fa3c1d0.");
  expect(await answer({}, {}, linux)).toBe(
    "process 5fa3c1d0, running: serve --all\nprocess 0badcafe, exit code 1: serve --all",
  );
  expect(await answer({}, {}, { list: async () => [] })).toBe("You have no processes.");
  expect(await answer({ process: "5fa3c1d0" }, {}, linux)).toBe(
    `process 5fa3c1d0, running: serve --all\n\n[… 10000 characters left out …]\n${"x".repeat(30_000)}`,
  );
  expect(await answer({ process: "5fa3c1d0" }, {}, { read: async () => ({ ...running, output: "" }) })).toContain(
    "It has written nothing.",
  );
  expect(await answer({ process: "5fa3c1d0", stop: true }, {}, linux)).toBe("process 5fa3c1d0, stopped: serve --all");
});

test.each([
  [{ command: "x", process: "y" }, "process"],
  [{ background: true }, "background"],
  [{ timeoutMs: 5 }, "timeoutMs"],
  [{ command: "x", background: true, timeoutMs: 5 }, "timeoutMs"],
  [{ stop: true }, "stop"],
  [{ command: "" }, "command"],
  [{ comand: "x" }, undefined],
])("%j means nothing, and is refused where it is wrong", (input, path) => {
  const { success, error } = sandbox.inputSchema.safeParse(input);
  expect(success).toBe(false);
  expect(error?.issues[0]?.path[0]).toBe(path);
});

test("the action log says how much was written, never what", () => {
  expect(sandbox.summarize?.("secret\nmore\n")).toBe("2 lines");
  expect(sandbox.summarize?.("secret\n\nexit code 3")).toBe("1 line, exit code 3");
  expect(sandbox.summarize?.("exit code 3")).toBe("0 lines, exit code 3");
  expect(sandbox.summarize?.("It ran, and wrote nothing.")).toBe("It ran, and wrote nothing.");
  expect(sandbox.summarize?.("process 5fa3c1d0, running: serve\n\nsecret")).toBe("process 5fa3c1d0, running: serve");
  expect(sandbox.summarize?.(`${"a\n".repeat(100_000)}b`)).toBe("100001 lines");
  // A million empty lines must not take a million times a million steps.
  expect(sandbox.summarize?.(`${"\n".repeat(1_000_000)}x`)).toBe("1000001 lines");
});
