import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test, vi } from "vitest";
import { bundleProgram, createTempHome } from "./fixture.ts";
import { takeLock } from "./lock.ts";

test("only one of many callers gets the lock, and another one after its release", async () => {
  const home = await createTempHome();
  const locks = await Promise.all(Array.from({ length: 10 }, () => takeLock(home)));
  const taken = locks.filter((lock) => lock !== undefined);
  expect(taken).toHaveLength(1);
  expect(await takeLock(home)).toBeUndefined();
  await taken[0]?.release();
  const next = await takeLock(home);
  expect(next?.fd).toBeGreaterThan(2);
  await next?.release();
});

test("two homes have separate locks", async () => {
  const locks = await Promise.all([takeLock(await createTempHome()), takeLock(await createTempHome())]);
  for (const lock of locks) {
    expect(lock).toBeDefined();
    await lock?.release();
  }
});

test("a damaged lock file still admits only one host", async () => {
  const home = await createTempHome();
  writeFileSync(home.lockFile, "");
  const lock = await takeLock(home);
  expect(lock).toBeDefined();
  expect(await takeLock(home)).toBeUndefined();
  await lock?.release();
});

test("the lock of a killed holder is held until its last child is gone", async () => {
  const home = await createTempHome();
  // The child does not notice that its parent died.
  const file = await bundleProgram(`
    import { spawn } from "node:child_process";
    import { takeLock } from "./lock.ts";
    const lock = await takeLock(${JSON.stringify(home)});
    const child = spawn("sleep", ["60"], { detached: true, stdio: ["ignore", "ignore", "ignore", lock.fd] });
    console.log(child.pid);
    setInterval(() => {}, 1000);
  `);
  const holder = spawn(process.execPath, [file], { stdio: ["ignore", "pipe", "inherit"] });
  const [line] = (await once(holder.stdout, "data")) as [Buffer];
  const child = Number(line.toString());
  let isChildAlive = true;
  onTestFinished(() => {
    holder.kill("SIGKILL");
    if (isChildAlive) process.kill(child, "SIGKILL");
  });
  expect(await takeLock(home)).toBeUndefined();

  const gone = once(holder, "exit");
  holder.kill("SIGKILL");
  await gone;
  for (let n = 0; n < 5; n++) {
    expect(await takeLock(home)).toBeUndefined();
    await sleep(10);
  }

  process.kill(child, "SIGKILL");
  isChildAlive = false;
  const lock = await vi.waitUntil(() => takeLock(home), { timeout: 10_000, interval: 10 });
  await lock?.release();
});
