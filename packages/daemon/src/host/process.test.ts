import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, mkdirSync, openSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { expect, onTestFinished, test, vi } from "vitest";
import { isAlive } from "../../../../tests/kit/processes.ts";
import { isGroupAlive, bundleProgram, createTempFolder } from "./fixture.ts";
import { startChild, startCommand, type Child } from "./process.ts";

function start(command: string, args: string[], onLine: (line: string) => void = () => {}): Child {
  const child = startChild({ command, args, env: { ONLY: "this" }, lockFd: undefined, onLine });
  onTestFinished(() => void child.kill("SIGKILL"));
  return child;
}

test("a child gets our arguments and environment, its own pid and an empty stdin", async () => {
  const lines: string[] = [];
  const script = 'echo "$$ $1 $ONLY"; cat; echo to-stderr >&2; exit 7';
  const child = start("/bin/sh", ["-c", script, "sh", 'a "b" $c'], (line) => lines.push(line));
  expect(await child.exited).toEqual({ code: 7, signal: null });
  expect(lines.toSorted()).toEqual([`${child.pid} a "b" $c this`, "to-stderr"].toSorted());
});

test("other users get no access to what a child creates", async () => {
  const lines: string[] = [];
  await start("/bin/sh", ["-c", "umask"], (line) => lines.push(line)).exited;
  expect(lines).toEqual(["0077"]);
});

test("a child reports on its control descriptor that it listens", async () => {
  const child = start("/bin/sh", ["-c", `echo '{"event":"listen","socket":"http","port":1}' >&4; sleep 60`]);
  await child.listening;
  child.kill("SIGKILL");
  expect(await child.exited).toEqual({ code: null, signal: "SIGKILL" });
});

test("a child that exits by itself leaves no processes", async () => {
  const child = start("/bin/sh", ["-c", "exit 0"]);
  await child.exited;
  // The group is gone once the background reader has ended.
  await vi.waitUntil(() => !isGroupAlive(child.pid as number), { timeout: 10_000, interval: 5 });
  child.kill("SIGKILL");
});

test("kill also ends the processes that the child started", async () => {
  let grandchild = 0;
  const child = start("/bin/sh", ["-c", "sleep 60 & echo $!; wait"], (line) => {
    grandchild = Number(line);
  });
  await vi.waitUntil(() => grandchild > 0, { timeout: 10_000, interval: 5 });
  child.kill("SIGKILL");
  await child.exited;
  await vi.waitUntil(() => !isAlive(grandchild), { timeout: 10_000, interval: 5 });
});

test("a child does not inherit the descriptors that its parent inherited", async () => {
  const file = await bundleProgram(`
    import { startChild, startCommand } from "./process.ts";
    const script = "ls -l /proc/self/fd | grep -c treasure";
    startChild({ command: "/bin/sh", args: ["-c", script], env: { PATH: "/usr/bin:/bin" }, lockFd: undefined, onLine: (line) => console.log("child", line) });
    startCommand({ command: "/bin/sh", args: ["-c", "PATH=/usr/bin:/bin; " + script], inputs: ["x"], onOutput: (text) => console.log("command", String(text).trim()) });
  `);
  const folder = join(createTempFolder(), "treasure");
  mkdirSync(folder);
  const open = openSync(folder, "r");
  onTestFinished(() => closeSync(open));
  // As descriptors 3 and 40 of the parent.
  const stdio = [
    "ignore",
    "pipe",
    "inherit",
    open,
    ...Array.from({ length: 36 }, () => "ignore" as const),
    open,
  ] as const;
  const parent = spawn(process.execPath, [file], { stdio: [...stdio] });
  const lines: string[] = [];
  createInterface(parent.stdout as Readable).on("line", (line) => lines.push(line));
  await once(parent, "close");
  expect(lines.toSorted()).toEqual(["child 0", "command 0"]);
});

test("a command's stdout and stderr are combined in order, and it can read its inputs", async () => {
  const chunks: Buffer[] = [];
  const command = startCommand({
    command: "/bin/sh",
    args: ["-c", "echo a; echo b >&2; echo c; /bin/cat <&5 <&6; /bin/cat <&5; echo $PATH$HOME; exit 4"],
    inputs: ["one", "two"],
    onOutput: (chunk) => chunks.push(chunk),
  });
  expect(await command.exited).toEqual({ code: 4, signal: null });
  expect(Buffer.concat(chunks).toString()).toMatch(/^a\nb\nc\ntwoone/);
});

test("a missing program is reported as an exit", async () => {
  const lines: string[] = [];
  const child = start("/nowhere/workerd", [], (line) => lines.push(line));
  expect((await child.exited).code).toBe(127);
  expect(lines.join(" ")).toContain("not found");
});

test.each(["SIGKILL", "SIGTERM"] as const)("no child outlives a parent killed by %s", async (signal) => {
  const file = await bundleProgram(`
    import { startChild } from "./process.ts";
    const options = { env: {}, lockFd: undefined, onLine: console.log };
    // One that waits, and one that spins and ignores signals.
    for (const script of ["echo $$; sleep 60", "trap '' TERM HUP INT; echo $$; while :; do :; done"]) {
      startChild({ ...options, command: "/bin/sh", args: ["-c", script] });
    }
    setInterval(() => {}, 1000);
  `);
  const parent = spawn(process.execPath, [file], { stdio: ["ignore", "pipe", "inherit"] });
  const pids: number[] = [];
  onTestFinished(() => {
    parent.kill("SIGKILL");
    for (const pid of pids) if (isGroupAlive(pid)) process.kill(-pid, "SIGKILL");
  });
  createInterface(parent.stdout).on("line", (line) => pids.push(Number(line)));
  await vi.waitUntil(() => pids.length === 2, { timeout: 10_000, interval: 5 });
  const gone = once(parent, "exit");
  parent.kill(signal);
  await gone;
  await vi.waitUntil(() => pids.every((pid) => !isGroupAlive(pid)), { timeout: 10_000, interval: 5 });
});
