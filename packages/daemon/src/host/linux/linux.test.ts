import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect, onTestFinished, test as always, vi } from "vitest";
import { isAlive, findProgramProcesses } from "../../../../../tests/kit/processes.ts";
import { bundleProgram, createTempFolder } from "../fixture.ts";
import { alice, openSandbox, findSandboxProblem } from "./fixture.ts";

const trouble = await findSandboxProblem();
if (trouble) console.warn(`These tests need a Linux sandbox. ${trouble}`);
const test = always.skipIf(trouble);

/** A word that is nowhere else on this machine. */
const createMark = () => `mark-${Math.random().toString(36).slice(2)}`;

const waitUntilGone = (word: string) =>
  vi.waitUntil(() => findProgramProcesses(word).length === 0, { timeout: 10_000, interval: 20 });

test("a command runs in a shell, in a folder of its own that stays", async () => {
  const { run, output } = await openSandbox();
  expect(await run("echo out; echo err >&2; pwd; echo $HOME; echo hello > note")).toMatchObject({
    exitCode: 0,
    output: "out\nerr\n/work\n/work\n",
  });
  expect(await output("cat note; ls -a")).toBe("hello\n.\n..\nnote");
  expect(await run("exit 7")).toMatchObject({ exitCode: 7, output: "" });
  expect(await run("no-such-program")).toMatchObject({ exitCode: 127, output: expect.stringContaining("not found") });
});

test("standard output and errors can be opened by their names, and there is no input", async () => {
  const { output } = await openSandbox();
  expect(await output("echo a > /dev/stdout; echo b > /dev/stderr; echo c | tee /dev/stderr; cat; echo end")).toBe(
    "a\nb\nc\nc\nend",
  );
});

test("what it writes is shown while it goes on", async () => {
  const { run } = await openSandbox();
  const shown: string[] = [];
  const end = run("echo first; until [ -e go ]; do sleep 0.05; done; echo second", {
    onOutput: (text) => shown.push(text),
  });
  await vi.waitUntil(() => shown.join("") === "first\n", { timeout: 10_000, interval: 10 });
  await run("touch go");
  expect(await end).toMatchObject({ exitCode: 0, output: "first\nsecond\n" });
});

test("one that takes too long is ended, with all that it started", async () => {
  const { run } = await openSandbox({ maxTimeoutSeconds: 3 });
  const word = createMark();
  const command = `(exec -a ${word} sleep 300) & (trap '' TERM INT HUP; exec -a ${word} sleep 300) & echo started; wait`;
  expect(await run(command, { timeoutMs: 2000 })).toMatchObject({
    exitCode: null,
    endedBy: "timeout",
    output: "started\n",
  });
  await waitUntilGone(word);
  // The host's own limit holds, whatever is asked for.
  expect(await run("sleep 60", { timeoutMs: 60_000 })).toMatchObject({ endedBy: "timeout" });
});

test("what a command leaves running ends with it", async () => {
  const { run } = await openSandbox();
  const word = createMark();
  expect(await run(`(setsid bash -c 'exec -a ${word} sleep 300' &) ; echo done`)).toMatchObject({
    exitCode: 0,
    output: "done\n",
  });
  await waitUntilGone(word);
});

test("whenever it is ended, the first process behind the walls ends with us; what a command signals to its own group is not for us", async () => {
  const { run } = await openSandbox();
  const word = createMark();
  const leaving = new AbortController();
  const end = run(`exec -a ${word} sleep 300`, { signal: leaving.signal });
  await vi.waitUntil(() => findProgramProcesses(word).some(({ command }) => command.startsWith(word)), {
    timeout: 10_000,
    interval: 20,
  });
  expect(
    new Set(findProgramProcesses(word).flatMap(({ command, group }) => (command.includes("bwrap") ? [group] : [])))
      .size,
  ).toBe(1);
  leaving.abort();
  await end;
  await waitUntilGone(word);
  expect(await run("trap '' TERM; kill 0; echo on; exit 3")).toMatchObject({ exitCode: 3, output: "on\n" });
});

test("a command whose caller has gone is ended", async () => {
  const { run } = await openSandbox();
  const leaving = new AbortController();
  const end = run("echo on; sleep 300", { signal: leaving.signal, onOutput: () => leaving.abort() });
  expect(await end).toMatchObject({ exitCode: null, endedBy: "stop" });
  const early = run("sleep 300", { signal: AbortSignal.abort() });
  expect(await early).toMatchObject({ endedBy: "stop" });
});

test("a signal is told as what it is", async () => {
  const { run } = await openSandbox();
  expect(await run("kill -SEGV $$")).toMatchObject({ exitCode: 139, endedBy: "signal" });
  expect(await run("kill -9 $$")).toMatchObject({ exitCode: 137, endedBy: "signal" });
});

test("memory, files, processes and open files have their limits", async () => {
  const { run, output } = await openSandbox({ memoryMb: 64 });
  expect(await output("echo short; ulimit -c; ulimit -n")).toBe("short\n0\n1024");
  const large = await run("x=$(head -c 100000000 /dev/zero | tr '\\0' x); echo ${#x}");
  expect(large.exitCode).not.toBe(0);
  expect(large.output).toMatch(/cannot allocate/i);
  // A gap costs no room on the disk.
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

test("a fork bomb is held, and others do not notice", async () => {
  const { run, output } = await openSandbox();
  const word = createMark();
  const enough = new AbortController();
  const end = run(`${word}() { ${word} | ${word} & }; ${word}; sleep 300`, { signal: enough.signal });
  await vi.waitUntil(() => findProgramProcesses(word).length > 300, { timeout: 20_000, interval: 20 });
  expect(await output("for i in 1 2 3; do (echo $i); done", "global~bob")).toBe("1\n2\n3");
  // Inside there may be 512; outside, there are some around them.
  expect(findProgramProcesses(word).length).toBeLessThan(530);
  enough.abort();
  expect(await end).toMatchObject({ endedBy: "stop" });
  await waitUntilGone(word);
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
  expect(output).toMatch(/\[… \d+ bytes left out …\]/);
  expect(shown).toBeLessThan(2 * 1024 * 1024);
  expect(process.memoryUsage.rss() - memory).toBeLessThan(200 * 1024 * 1024);
  expect((user + system) / 1000 / ms).toBeLessThan(0.5);
});

test("bytes that are no text do no harm", async () => {
  const { output } = await openSandbox();
  expect(await output("printf 'a\\0b\\377c\\033[31mred\\033[0m'")).toBe("a\ufffdb\ufffdcred");
});

test("commands run beside each other, in their own folders, and only so many at a time", async () => {
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
  expect([first, second].map((one) => one.status)).toEqual(["fulfilled", "fulfilled"]);
  expect(third).toMatchObject({
    status: "rejected",
    reason: { code: "conflict", message: expect.stringContaining("2 commands of this agent are running") },
  });
  expect(await output("echo again")).toBe("again");
  await sandbox.start({ agent: alice, command: "sleep 300" });
  await sandbox.start({ agent: alice, command: "sleep 300" });
  await expect(run("echo 4")).rejects.toThrow("stop a process");
});

test("a disk that gets full ends what adds to it; what is there can still be removed", async () => {
  let full = false;
  const { run, output } = await openSandbox({}, () => full);
  const end = run("echo old > old; echo on; sleep 300", { onOutput: () => (full = true) });
  expect(await end).toMatchObject({ exitCode: null, endedBy: "disk" });
  const crowded = await output("rm old && ls; (echo more > new); wc -c < new");
  expect(crowded).toMatch(/^\[The disk is almost full: files can be removed, but not written\.\]\n/);
  expect(crowded).toMatch(/File size limit exceeded.*\n0$/);
  full = false;
  expect(await output("echo more > new; cat new")).toBe("more");
});

test("processes go on by themselves: they are listed, read on and stopped", async () => {
  const { sandbox, run } = await openSandbox();
  const word = createMark();
  const { id, ...started } = await sandbox.start({
    agent: alice,
    command: `echo one; until [ -e go ]; do sleep 0.05; done; echo two; exec -a ${word} sleep 300`,
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
  await waitUntilGone(word);
  // Once more changes nothing, and neither does one that ended by itself.
  expect(await sandbox.stop(alice, id)).toMatchObject({ endedBy: "stop" });
  expect(await sandbox.stop(alice, other.id)).toMatchObject({ exitCode: 3 });
  expect(() => sandbox.read(alice, "0badcafe")).toThrow("Processes end with the host");
});

test("of the processes that ended, the latest are remembered, with the end of what they wrote", async () => {
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

test("nothing outlives the daemon, not even when it is killed", async () => {
  const word = createMark();
  const folder = createTempFolder();
  const file = await bundleProgram(`
    import { openHome } from "../home/home.ts";
    import { createBubblewrapProvider } from "./linux/bubblewrap.ts";
    const home = await openHome({ THINKERY_HOME: ${JSON.stringify(`${folder}/home`)} });
    const { start } = createBubblewrapProvider({ home, onError: console.error });
    const order = { limits: { memoryMb: 256, network: false }, cpuSeconds: 60, fileBytes: 1000, onOutput: (chunk) => process.stdout.write(chunk) };
    const command = "trap '' TERM HUP INT; (setsid bash -c 'exec -a ${word} sleep 300' &); echo started; exec -a ${word} sleep 300";
    for (const agent of ["global~alice", "global~bob"]) await start({ agent, command, ...order });
    setInterval(() => {}, 1000);
  `);
  const parent = spawn(process.execPath, [file], { stdio: ["ignore", "pipe", "inherit"] });
  onTestFinished(() => void parent.kill("SIGKILL"));
  let said = "";
  parent.stdout.on("data", (chunk) => (said += chunk));
  await vi.waitUntil(() => said === "started\nstarted\n", { timeout: 10_000, interval: 10 });
  await vi.waitUntil(() => findProgramProcesses(word).length >= 4, { timeout: 10_000, interval: 20 });
  const dead = once(parent, "exit");
  parent.kill("SIGKILL");
  await dead;
  expect(isAlive(parent.pid as number)).toBe(false);
  await waitUntilGone(word);
});
