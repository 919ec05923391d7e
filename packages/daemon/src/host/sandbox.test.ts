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

test("a process that uses up its time of the processor ends, and it is known why", async (context) => {
  const walls = await findIsolation(findWorkerdBinary());
  if (!walls.prlimit) return context.skip(walls.missing.join(" "));
  const path = join(createTempFolder(), "spin.js");
  writeFileSync(path, "export default { fetch() { for (;;); } };");
  const home = await createTempHome();
  const charge = createSandboxChild({
    home,
    index: 0,
    modules: [{ name: "spin.js", path }],
    limits: { memoryMb: 128 },
    getIsolation: async () => walls,
    lockFd: undefined,
    cpuSeconds: 1,
  });
  await charge.prepare();
  const lastLines: string[] = [];
  const child = charge.start((line) => lastLines.push(line));
  onTestFinished(() => void child.kill("SIGKILL"));
  await child.listening;
  request({ socketPath: charge.socket, agent: false })
    .on("error", () => {})
    .end();
  const exit = await child.exited;
  expect(exit).toEqual({ code: null, signal: "SIGXCPU" });
  expect(toEndCause({ generation: 1, exit, lastLines }, lastLines.some(isOutOfMemoryLine))).toBe("cpu");
});

const killed: Exit = { code: null, signal: "SIGKILL" };
const aborted: Exit = { code: 1, signal: null };
const words = ["#", "# Fatal process out of memory: Worklist::Segment::Create"];
const getCause = (exit: Exit, killedFor?: ChildEnd["killedFor"], said: string[] = []) =>
  toEndCause({ generation: 1, exit, lastLines: [], ...(killedFor ? { killedFor } : {}) }, said.some(isOutOfMemoryLine));

test("who kills a process is why it ended, unless it went down by itself", () => {
  expect(getCause(killed, "silence")).toBe("silence");
  expect(getCause(killed, "renewal")).toBe("asked");
  expect(getCause(killed, "stop")).toBe("asked");
  expect(getCause(killed)).toBe("crash");
  expect(getCause(aborted)).toBe("crash");
  expect(getCause(aborted, "renewal")).toBe("crash");
  // It was on its way down, and only slow.
  expect(getCause(killed, "renewal", words)).toBe("memory");
  for (const killer of [undefined, "silence", "renewal"] as const)
    expect(getCause(aborted, killer, words)).toBe("memory");
});
