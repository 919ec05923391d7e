import { writeFileSync } from "node:fs";
import { request } from "node:http";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createTempFolder, createTempHome } from "./fixture.ts";
import { findIsolation } from "./isolation.ts";
import type { Exit } from "./process.ts";
import { createSandboxChild } from "./sandbox.ts";
import { toEndCause, isOutOfMemoryLine } from "./slot-end.ts";
import type { ChildEnd } from "./supervise.ts";
import { findWorkerdBinary } from "./workerd.ts";

test("a process that exceeds its CPU time ends with the cause “cpu”", async (context) => {
  const isolation = await findIsolation(findWorkerdBinary());
  if (!isolation.prlimit) return context.skip(isolation.missing.join(" "));
  const path = join(createTempFolder(), "spin.js");
  writeFileSync(path, "export default { fetch() { for (;;); } };");
  const home = await createTempHome();
  const spec = createSandboxChild({
    home,
    index: 0,
    modules: [{ name: "spin.js", path }],
    limits: { memoryMb: 128 },
    getIsolation: async () => isolation,
    lockFd: undefined,
    cpuSeconds: 1,
  });
  await spec.prepare();
  const lastLines: string[] = [];
  const child = spec.start((line) => lastLines.push(line));
  onTestFinished(() => void child.kill("SIGKILL"));
  await child.listening;
  request({ socketPath: spec.socket, agent: false })
    .on("error", () => {})
    .end();
  const exit = await child.exited;
  expect(exit).toEqual({ code: null, signal: "SIGXCPU" });
  expect(toEndCause({ generation: 1, exit, lastLines }, lastLines.some(isOutOfMemoryLine))).toBe("cpu");
});

const killed: Exit = { code: null, signal: "SIGKILL" };
const aborted: Exit = { code: 1, signal: null };
const outOfMemoryLines = ["#", "# Fatal process out of memory: Worklist::Segment::Create"];
const getCause = (exit: Exit, killedFor?: ChildEnd["killedFor"], lines: string[] = []) =>
  toEndCause(
    { generation: 1, exit, lastLines: [], ...(killedFor ? { killedFor } : {}) },
    lines.some(isOutOfMemoryLine),
  );

test("a killed process ends for the reason it was killed, unless it was already crashing", () => {
  expect(getCause(killed, "silence")).toBe("silence");
  expect(getCause(killed, "renewal")).toBe("asked");
  expect(getCause(killed, "stop")).toBe("asked");
  expect(getCause(killed)).toBe("crash");
  expect(getCause(aborted)).toBe("crash");
  expect(getCause(aborted, "renewal")).toBe("crash");
  // It was already crashing, but slowly.
  expect(getCause(killed, "renewal", outOfMemoryLines)).toBe("memory");
  for (const killer of [undefined, "silence", "renewal"] as const)
    expect(getCause(aborted, killer, outOfMemoryLines)).toBe("memory");
});
