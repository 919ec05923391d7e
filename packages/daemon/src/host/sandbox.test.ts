import { writeFileSync } from "node:fs";
import { request } from "node:http";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { tempFolder, tempHome } from "./fixture.ts";
import type { Exit } from "./process.ts";
import { sandbox } from "./sandbox.ts";
import { causeOf, tellsOfMemory } from "./slot-end.ts";
import type { ChildEnd } from "./supervise.ts";
import { wallsHere } from "./walls.ts";
import { workerdBinary } from "./workerd.ts";

test("a process that uses up its time of the processor ends, and it is known why", async (context) => {
  const walls = await wallsHere(workerdBinary());
  if (!walls.prlimit) return context.skip(walls.missing.join(" "));
  const path = join(tempFolder(), "spin.js");
  writeFileSync(path, "export default { fetch() { for (;;); } };");
  const home = await tempHome();
  const charge = sandbox({ home, index: 0, modules: [{ name: "spin.js", path }], limits: { memoryMb: 128 }, walls: async () => walls, lockFd: undefined, cpuSeconds: 1 });
  await charge.prepare();
  const lastLines: string[] = [];
  const child = charge.start((line) => lastLines.push(line));
  onTestFinished(() => void child.kill("SIGKILL"));
  await child.listening;
  request({ socketPath: charge.socket, agent: false }).on("error", () => {}).end();
  const exit = await child.exited;
  expect(exit).toEqual({ code: null, signal: "SIGXCPU" });
  expect(causeOf({ generation: 1, exit, lastLines }, lastLines.some(tellsOfMemory))).toBe("cpu");
});

const killed: Exit = { code: null, signal: "SIGKILL" };
const aborted: Exit = { code: 1, signal: null };
const words = ["#", "# Fatal process out of memory: Worklist::Segment::Create"];
const cause = (exit: Exit, killedFor?: ChildEnd["killedFor"], said: string[] = []) =>
  causeOf({ generation: 1, exit, lastLines: [], ...(killedFor ? { killedFor } : {}) }, said.some(tellsOfMemory));

test("who kills a process is why it ended, unless it went down by itself", () => {
  expect(cause(killed, "silence")).toBe("silence");
  expect(cause(killed, "renewal")).toBe("asked");
  expect(cause(killed, "stop")).toBe("asked");
  expect(cause(killed)).toBe("crash");
  expect(cause(aborted)).toBe("crash");
  expect(cause(aborted, "renewal")).toBe("crash");
  // It was on its way down, and only slow.
  expect(cause(killed, "renewal", words)).toBe("memory");
  for (const killer of [undefined, "silence", "renewal"] as const) expect(cause(aborted, killer, words)).toBe("memory");
});
