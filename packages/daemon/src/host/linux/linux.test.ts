import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect, onTestFinished, test as always, vi } from "vitest";
import { isAlive, findProgramProcesses } from "../../../../../tests/kit/processes.ts";
import { bundleProgram, createTempFolder } from "../fixture.ts";
import { alice, openSandbox, findSandboxIssue } from "./fixture.ts";

const issue = await findSandboxIssue();
if (issue) console.warn(`These tests need a Linux sandbox. ${issue}`);
const test = always.skipIf(issue);

/** Returns a string by which to find processes on this machine. */
const createMark = () => `mark-${Math.random().toString(36).slice(2)}`;

const waitUntilGone = (mark: string) =>
  vi.waitUntil(() => findProgramProcesses(mark).length === 0, { timeout: 10_000, interval: 20 });

test("a command runs in a shell, in its agent's persistent folder", async () => {
  const { run, output } = await openSandbox();
  expect(await run("echo out; echo err >&2; pwd; echo $HOME; echo hello > note")).toMatchObject({
    exitCode: 0,
    output: "out\nerr\n/work\n/work\n",
  });
  expect(await output("cat note; ls -a")).toBe("hello\n.\n..\nnote");
  expect(await run("exit 7")).toMatchObject({ exitCode: 7, output: "" });
  expect(await run("no-such-program")).toMatchObject({ exitCode: 127, output: expect.stringContaining("not found") });
});

test("/dev/stdout and /dev/stderr can be opened, and stdin is empty", async () => {
  const { output } = await openSandbox();
  expect(await output("echo a > /dev/stdout; echo b > /dev/stderr; echo c | tee /dev/stderr; cat; echo end")).toBe(
    "a\nb\nc\nc\nend",
  );
});

test("output is streamed while the command runs", async () => {
  const { run } = await openSandbox();
  const shown: string[] = [];
  const end = run("echo first; until [ -e go ]; do sleep 0.05; done; echo second", {
    onOutput: (text) => shown.push(text),
  });
  await vi.waitUntil(() => shown.join("") === "first\n", { timeout: 10_000, interval: 10 });
  await run("touch go");
  expect(await end).toMatchObject({ exitCode: 0, output: "first\nsecond\n" });
});

test("a command that takes too long is killed with everything it started", async () => {
  const { run } = await openSandbox({ maxTimeoutSeconds: 3 });
  const mark = createMark();
  const command = `(exec -a ${mark} sleep 300) & (trap '' TERM INT HUP; exec -a ${mark} sleep 300) & echo started; wait`;
  expect(await run(command, { timeoutMs: 2000 })).toMatchObject({
    exitCode: null,
    endedBy: "timeout",
    output: "started\n",
  });
  await waitUntilGone(mark);
  // The host's own limit applies, whatever was requested.
  expect(await run("sleep 60", { timeoutMs: 60_000 })).toMatchObject({ endedBy: "timeout" });
});

test("background processes of a command end with it", async () => {
  const { run } = await openSandbox();
  const mark = createMark();
  expect(await run(`(setsid bash -c 'exec -a ${mark} sleep 300' &) ; echo done`)).toMatchObject({
    exitCode: 0,
    output: "done\n",
  });
  await waitUntilGone(mark);
});

test("the first process in the sandbox is in our process group, and a command's signals to its own group do not reach us", async () => {
  const { run } = await openSandbox();
  const mark = createMark();
  const leaving = new AbortController();
  const end = run(`exec -a ${mark} sleep 300`, { signal: leaving.signal });
  await vi.waitUntil(() => findProgramProcesses(mark).some(({ command }) => command.startsWith(mark)), {
    timeout: 10_000,
    interval: 20,
  });
  expect(
    new Set(findProgramProcesses(mark).flatMap(({ command, group }) => (command.includes("bwrap") ? [group] : [])))
      .size,
  ).toBe(1);
  leaving.abort();
  await end;
  await waitUntilGone(mark);
  expect(await run("trap '' TERM; kill 0; echo on; exit 3")).toMatchObject({ exitCode: 3, output: "on\n" });
});

test("a command whose caller disconnected is stopped", async () => {
  const { run } = await openSandbox();
  const leaving = new AbortController();
  const end = run("echo on; sleep 300", { signal: leaving.signal, onOutput: () => leaving.abort() });
  expect(await end).toMatchObject({ exitCode: null, endedBy: "stop" });
  const early = run("sleep 300", { signal: AbortSignal.abort() });
  expect(await early).toMatchObject({ endedBy: "stop" });
});

test("a command ended by a signal is reported as such", async () => {
  const { run } = await openSandbox();
  expect(await run("kill -SEGV $$")).toMatchObject({ exitCode: 139, endedBy: "signal" });
  expect(await run("kill -9 $$")).toMatchObject({ exitCode: 137, endedBy: "signal" });
});

test("the memory of a process, file sizes and open files are limited", async () => {
  const { run, output } = await openSandbox({ memoryMb: 1000 });
  expect(await output("echo short; ulimit -c; ulimit -n")).toBe("short\n0\n1024");
  // In one piece, which the kernel refuses before any of it is used.
  expect((await run("dd if=/dev/zero of=/dev/null bs=1001M count=1")).output).toMatch(/memory exhausted/);
  expect((await run("dd if=/dev/zero of=/dev/null bs=100M count=1")).exitCode).toBe(0);
  // A sparse file takes no space on the disk.
  const file = await run(
    "truncate -s 1100M big; stat -c %s big 2>/dev/null; truncate -s 1000M small && stat -c %s small",
  );
  expect(file.output).toContain(String(1000 * 1024 * 1024));
  expect(file.output).not.toContain(String(1100 * 1024 * 1024));
  const memory = await run(
    "fallocate -l 600M /tmp/x; fallocate -l 100M /dev/shm/x; fallocate -l 50M /dev/shm/y && echo fits",
  );
  expect(memory.output.match(/No space left|fits/g)).toEqual(["No space left", "No space left", "fits"]);
});

test("a flood of output neither grows memory nor keeps the daemon busy", async () => {
  const { run } = await openSandbox();
  let shown = 0;
  const memory = process.memoryUsage.rss();
  const cpu = process.cpuUsage();
  const { endedBy, output, ms } = await run("yes 0123456789", {
    timeoutMs: 1500,
    onOutput: (text) => (shown += text.length),
  });
  const { user, system } = process.cpuUsage(cpu);
  expect(endedBy).toBe("timeout");
  expect(output.length).toBeLessThan(1.1 * 1024 * 1024);
  expect(output).toMatch(/\[… \d+ bytes omitted …\]/);
  expect(shown).toBeLessThan(2 * 1024 * 1024);
  expect(process.memoryUsage.rss() - memory).toBeLessThan(200 * 1024 * 1024);
  expect((user + system) / 1000 / ms).toBeLessThan(0.5);
});

test("output that is not text is sanitized", async () => {
  const { output } = await openSandbox();
  expect(await output("printf 'a\\0b\\377c\\033[31mred\\033[0m'")).toBe("a\ufffdb\ufffdcred");
});

test("commands run concurrently in their own folders, up to a limit", async () => {
  const { run, output, sandbox } = await openSandbox({ maxProcesses: 2 });
  const waits = "until [ -e go ]; do sleep 0.05; done; cat own";
  await Promise.all([run("echo alice > own"), run("echo bob > own", { agent: "global~bob" })]);
  const both = [run(waits), run(waits, { agent: "global~bob" })];
  await run("touch go");
  await run("touch go", { agent: "global~bob" });
  expect((await Promise.all(both)).map(({ output }) => output)).toEqual(["alice\n", "bob\n"]);

  const [first, second, third] = await Promise.allSettled([
    run("sleep 0.2; echo 1"),
    run("sleep 0.2; echo 2"),
    run("echo 3"),
  ]);
  expect([first, second].map(({ status }) => status)).toEqual(["fulfilled", "fulfilled"]);
  expect(third).toMatchObject({
    status: "rejected",
    reason: { code: "conflict", message: expect.stringContaining("This agent already runs 2 commands") },
  });
  expect(await output("echo again")).toBe("again");
  await sandbox.start({ agent: alice, command: "sleep 300" });
  await sandbox.start({ agent: alice, command: "sleep 300" });
  await expect(run("echo 4")).rejects.toThrow("stop a process");
});

test("a full disk stops writing commands, but files can still be removed", async () => {
  let isFull = false;
  const { run, output } = await openSandbox({}, () => isFull);
  const end = run("echo old > old; echo on; sleep 300", { onOutput: () => (isFull = true) });
  expect(await end).toMatchObject({ exitCode: null, endedBy: "disk" });
  const text = await output("rm old && ls; (echo more > new); wc -c < new");
  expect(text).toMatch(/^\[The disk is almost full: files can be removed, but not written\.\]\n/);
  expect(text).toMatch(/File size limit exceeded.*\n0$/);
  isFull = false;
  expect(await output("echo more > new; cat new")).toBe("more");
});

test("background processes can be listed, read and stopped", async () => {
  const { sandbox, run } = await openSandbox();
  const mark = createMark();
  const { id, ...started } = await sandbox.start({
    agent: alice,
    command: `echo one; until [ -e go ]; do sleep 0.05; done; echo two; exec -a ${mark} sleep 300`,
  });
  expect(started).toMatchObject({
    state: "running",
    command: expect.stringContaining("echo one"),
    startedAt: expect.any(String),
  });
  await vi.waitUntil(() => sandbox.read(alice, id).output === "one\n", { timeout: 10_000, interval: 10 });
  const { outputBytes } = sandbox.read(alice, id);
  await run("touch go");
  await vi.waitUntil(() => sandbox.read(alice, id, outputBytes).output === "two\n", { timeout: 10_000, interval: 10 });
  const other = await sandbox.start({ agent: alice, command: "echo short; exit 3" });
  await vi.waitUntil(() => sandbox.read(alice, other.id).state === "exited", { timeout: 10_000, interval: 10 });
  expect(sandbox.list(alice)).toMatchObject([
    { id, state: "running", outputBytes: 8 },
    { id: other.id, state: "exited", exitCode: 3, endedAt: expect.any(String), outputBytes: 6 },
  ]);
  expect(sandbox.list("global~bob")).toEqual([]);
  expect(() => sandbox.read("global~bob", id)).toThrow("no process");
  expect(await sandbox.stop(alice, id)).toMatchObject({ id, state: "exited", exitCode: null, endedBy: "stop" });
  await waitUntilGone(mark);
  // Stopping an ended process changes nothing.
  expect(await sandbox.stop(alice, id)).toMatchObject({ endedBy: "stop" });
  expect(await sandbox.stop(alice, other.id)).toMatchObject({ exitCode: 3 });
  expect(() => sandbox.read(alice, "0badcafe")).toThrow("Processes end with the host");
});

test("the latest ended processes are kept, with the end of their output", async () => {
  const { sandbox } = await openSandbox();
  const { id: running } = await sandbox.start({ agent: alice, command: "yes; sleep 300" });
  await vi.waitUntil(() => sandbox.read(alice, running).outputBytes > 1024 * 1024, { timeout: 10_000, interval: 10 });
  expect(sandbox.read(alice, running).output.length).toBeLessThan(300 * 1024);
  await sandbox.stop(alice, running);
  expect(sandbox.read(alice, running).output.length).toBeLessThan(70 * 1024);
  const { id: kept } = await sandbox.start({ agent: alice, command: "sleep 300" });
  for (let count = 0; count < 21; count++) {
    const { id } = await sandbox.start({ agent: alice, command: `exit ${count}` });
    await vi.waitUntil(() => sandbox.read(alice, id).state === "exited", { timeout: 10_000, interval: 5 });
  }
  expect(sandbox.list(alice).map(({ exitCode }) => exitCode)).toEqual([
    undefined,
    ...Array.from({ length: 20 }, (_, index) => index + 1),
  ]);
  expect(sandbox.list(alice)[0]?.id).toBe(kept);
});

test("no command outlives the daemon, even if it is killed", async () => {
  const mark = createMark();
  const folder = createTempFolder();
  const file = await bundleProgram(`
    import { openHome } from "../home/home.ts";
    import { createBubblewrapProvider } from "./linux/bubblewrap.ts";
    const home = await openHome({ THINKERY_HOME: ${JSON.stringify(`${folder}/home`)} });
    const { start } = createBubblewrapProvider({ home, onError: console.error });
    const options = { limits: { memoryMb: 256, maxProcessesPerCommand: 512, network: false }, cpuSeconds: 60, fileBytes: 1000, onOutput: (chunk) => process.stdout.write(chunk) };
    const command = "trap '' TERM HUP INT; (setsid bash -c 'exec -a ${mark} sleep 300' &); echo started; exec -a ${mark} sleep 300";
    for (const agent of ["global~alice", "global~bob"]) await start({ agent, command, ...options });
    setInterval(() => {}, 1000);
  `);
  const parent = spawn(process.execPath, [file], { stdio: ["ignore", "pipe", "inherit"] });
  onTestFinished(() => void parent.kill("SIGKILL"));
  let output = "";
  parent.stdout.on("data", (chunk) => (output += chunk));
  await vi.waitUntil(() => output === "started\nstarted\n", { timeout: 10_000, interval: 10 });
  await vi.waitUntil(() => findProgramProcesses(mark).length >= 4, { timeout: 10_000, interval: 20 });
  const dead = once(parent, "exit");
  parent.kill("SIGKILL");
  await dead;
  expect(isAlive(parent.pid as number)).toBe(false);
  await waitUntilGone(mark);
});
