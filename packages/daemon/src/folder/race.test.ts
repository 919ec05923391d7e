import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { getRepeatCount } from "../../../../tests/kit/sample.ts";
import { createTempFolder } from "../host/fixture.ts";
import { withParentFolder } from "./open-folder.ts";
import { removeFolder } from "./remove.ts";
import { writeContent } from "./write.ts";

const nobody = 65_534;
const isRoot = process.getuid?.() === 0;

// Moves the folder away as soon as it exists, has a link in its place for a moment, and starts over.
const swapScript = `
const { renameSync, symlinkSync, unlinkSync } = require("node:fs");
const [, name, victim] = process.argv;
const attempt = (call, ...args) => { try { call(...args); return true; } catch { return false; } };
process.stdout.write("ready");
for (let count = 0; ; count++) {
  if (!attempt(renameSync, name, name + "-" + count)) continue;
  attempt(symlinkSync, victim, name);
  for (let spins = 0; spins < 20_000; spins++);
  attempt(unlinkSync, name);
}`;

/** Starts a process that keeps replacing the folder `name` in `root` by a link to `victim`, until the test ends. */
async function startSwapping(root: string, name: string, victim: string): Promise<void> {
  const child = spawn(process.execPath, ["-e", swapScript, join(root, name), victim], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  await once(child.stdout, "data");
}

const readRights = (path: string) => {
  const { uid, gid, mode } = lstatSync(path);
  return `${uid}:${gid} ${mode.toString(8)}`;
};

function createVictim(kind: "file" | "folder"): string {
  const victim = join(createTempFolder(), "victim");
  if (kind === "file") writeFileSync(victim, "safe");
  else mkdirSync(victim);
  chmodSync(victim, 0o700);
  return victim;
}

// A host of root gives what it writes to the user of its commands. Any other keeps it.
test.each([
  ...(isRoot
    ? ([
        ["file", nobody],
        ["folder", nobody],
      ] as const)
    : []),
  ["folder", undefined] as const,
])(
  "a command that swaps folders for links while files are written there does not reach the %s behind the link (owner: %s)",
  async (kind, owner) => {
    const writeCount = getRepeatCount("writes to a swapped folder", { sample: 2000, full: 30_000 });
    const root = createTempFolder();
    const drafts = createTempFolder();
    const victim = createVictim(kind);
    const before = readRights(victim);
    await startSwapping(root, "sub", victim);
    const content = Buffer.from("x");
    let written = 0;
    let count = 0;
    const giveUpAt = Date.now() + 45_000;
    // Goes on until both sides of the race were reached, unless the other process gets no time at all.
    for (; count < writeCount || ((written === 0 || written === count) && Date.now() < giveUpAt); count++) {
      const result = writeContent(root, `sub/${count}`, content, { expected: undefined, drafts, owner });
      if (typeof result === "object" && "state" in result) written++;
      if (readRights(victim) !== before) break;
    }
    expect([readRights(victim), count]).toEqual([before, expect.toSatisfy((count) => count >= writeCount)]);
    if (kind === "folder") expect(readdirSync(victim)).toEqual([]);
  },
);

test("removing a folder while a command swaps folders in it for links removes nothing behind the link", async () => {
  const removeCount = getRepeatCount("removals of a swapped folder", { sample: 300, full: 5000 });
  const root = createTempFolder();
  const victim = createVictim("folder");
  writeFileSync(join(victim, "gold"), "gold");
  const before = readRights(victim);
  await startSwapping(join(root, "gone"), "sub", victim);
  for (let count = 0; count < removeCount; count++) {
    // Not created in place, where a link may have its name.
    mkdirSync(join(root, "next/sub/inner"), { recursive: true });
    renameSync(join(root, "next"), join(root, "gone"));
    await removeFolder(join(root, "gone"));
    if (readdirSync(victim).length === 0) break;
  }
  expect([readRights(victim), readdirSync(victim), existsSync(join(root, "gone"))]).toEqual([before, ["gold"], false]);
});

test.runIf(isRoot)("the owner is set of the folder that was created, even if a link has its name by then", () => {
  const root = createTempFolder();
  const victim = createVictim("folder");
  const before = readRights(victim);
  withParentFolder(root, "sub/file", () => {}, {
    onCreate(folder) {
      renameSync(join(root, "sub"), join(root, "aside"));
      symlinkSync(victim, join(root, "sub"));
      folder.setOwner(nobody);
      folder.setMode(0o711);
    },
  });
  expect(readRights(victim)).toBe(before);
  expect(readRights(join(root, "aside"))).toBe("65534:65534 40711");
});
