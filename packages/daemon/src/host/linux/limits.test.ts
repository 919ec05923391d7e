import { beforeEach, expect, test, vi } from "vitest";
import { findProgramProcesses } from "../../../../../tests/kit/processes.ts";
import { findSandboxIssue, openSandbox } from "./fixture.ts";
import { canMeasureUsage } from "./usage.ts";

const issue = await findSandboxIssue();

beforeEach((context) => {
  if (issue) context.skip(`This needs a Linux sandbox. ${issue}`);
});

/** Returns a string by which to find processes on this machine. */
const createMark = () => `mark-${Math.random().toString(36).slice(2)}`;

const waitUntilGone = (mark: string) =>
  vi.waitUntil(() => findProgramProcesses(mark).length === 0, { timeout: 10_000, interval: 20 });

/** Low, so that a limit that does not work is no danger to the machine. */
const lowLimits = { memoryMb: 200, maxProcessesPerCommand: 30 };

const timeoutMs = 20_000;

/** Takes 30 MB and waits. */
const writeProgram = "echo 'x=$(head -c 10000000 /dev/zero | tr \"\\0\" x); y=$x$x; sleep 300' > take.sh";

test("a fork bomb is ended with everything it started, and others are served meanwhile", async () => {
  const { run, output } = await openSandbox(lowLimits);
  const mark = createMark();
  const end = run(`${mark}() { ${mark} | ${mark} & }; ${mark}; sleep 300`, { timeoutMs });
  let served = 0;
  let isOver = false;
  const others = (async () => {
    for (; !isOver; served++) expect(await output("for i in 1 2; do (echo $i); done", "global~bob")).toBe("1\n2");
  })();
  let maxSeen = 0;
  const watch = setInterval(() => (maxSeen = Math.max(maxSeen, findProgramProcesses(mark).length)), 20);
  expect(await end).toMatchObject({ exitCode: null, endedBy: "process_limit" });
  clearInterval(watch);
  isOver = true;
  await others;
  expect(served).toBeGreaterThan(0);
  // The kernel's limit, plus a few processes around the sandbox.
  expect(maxSeen).toBeLessThan(lowLimits.maxProcessesPerCommand + 16 + 10);
  await waitUntilGone(mark);
});

test("threads count as processes", async (context) => {
  // Each thread reserves some for its stack.
  const { run } = await openSandbox({ ...lowLimits, memoryMb: 1000 });
  if ((await run("command -v python3")).exitCode !== 0) return context.skip("This needs python3.");
  const program =
    "import threading, time\nfor _ in range(35): threading.Thread(target=time.sleep, args=(300,)).start()\ntime.sleep(300)";
  expect(await run(`python3 -c '${program}'`, { timeoutMs })).toMatchObject({
    exitCode: null,
    endedBy: "process_limit",
  });
});

test.each([
  ["many small processes", "for i in $(seq 12); do bash take.sh & done; wait"],
  ["processes that leave their parent", "for i in $(seq 12); do (setsid bash take.sh &); done; sleep 300"],
  ["files in memory", "head -c 150M /dev/zero > /tmp/x; head -c 60M /dev/zero > /dev/shm/x; sleep 300"],
])("%s are ended when their memory together exceeds the limit", async (_, command) => {
  const { run } = await openSandbox({ ...lowLimits, maxProcessesPerCommand: 60 });
  const mark = createMark();
  expect(await run(`: ${mark}; ${writeProgram}; ${command}`, { timeoutMs })).toMatchObject({
    exitCode: null,
    endedBy: "memory_limit",
  });
  await waitUntilGone(mark);
});

test("a process whose first thread has exited is measured", async (context) => {
  const { run } = await openSandbox(lowLimits);
  if ((await run("/usr/bin/python3 -c 'import ctypes'")).exitCode !== 0)
    return context.skip("This needs python3 with ctypes.");
  // Shared memory, because the limit of each process does not cover it.
  const program = [
    "import ctypes, mmap, threading, time",
    "def take():",
    "    time.sleep(0.5)",
    "    memory = mmap.mmap(-1, 250_000_000)",
    '    memory.write(bytes(100)); [memory.seek(at) or memory.write(b"x") for at in range(0, 250_000_000, 4096)]',
    "    time.sleep(300)",
    "threading.Thread(target=take).start()",
    "ctypes.CDLL(None).pthread_exit(None)",
  ].join("\n");
  expect(await run(`cat > a.py << 'END'\n${program}\nEND\n/usr/bin/python3 a.py`, { timeoutMs })).toMatchObject({
    endedBy: "memory_limit",
  });
});

test("memory that processes share counts once, and parallel work within the limits completes", async (context) => {
  const { run, output } = await openSandbox(lowLimits);
  // Twenty processes at once, as `make -j` would run them.
  expect(
    await output("seq 100 | xargs -P 5 -I {} sh -c 'seq {} | sort -R | sort -n | tail -n 1' | sort -n | tail -n 1"),
  ).toBe("100");
  if ((await run("command -v python3")).exitCode !== 0) return context.skip("This needs python3.");
  // Twelve times 60 MB, but copied only when written.
  const program = [
    "import os, time",
    "data = bytearray(60_000_000)",
    "data[::4096] = data[::4096]",
    "for _ in range(12):",
    "    if os.fork() == 0: time.sleep(1); os._exit(0)",
    "for _ in range(12): os.wait()",
    'print("done")',
  ].join("\n");
  expect(await output(`cat > a.py << 'END'\n${program}\nEND\npython3 a.py`)).toBe("done");
});

test("this machine's /proc has what is measured", () => {
  expect(canMeasureUsage()).toBe(true);
});
