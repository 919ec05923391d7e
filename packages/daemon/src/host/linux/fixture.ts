import { mkdtempSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { CommandResult } from "@thinkery/sdk";
import { type LinuxLimits, linuxLimitsSchema } from "@thinkery/sdk/internal";
import { onTestFinished } from "vitest";
import { type Home, openHome } from "../../home/home.ts";
import { createBubblewrapProvider } from "./bubblewrap.ts";
import { LinuxSandbox } from "./linux.ts";

interface OpenedSandbox {
  home: Home;
  sandbox: LinuxSandbox;
  errors: string[];
  /** Runs a command, by default for alice. */
  run(
    command: string,
    options?: { timeoutMs?: number; agent?: string; signal?: AbortSignal; onOutput?(text: string): void },
  ): Promise<CommandResult>;
  /** Returns the output of a command, without trailing newlines. */
  output(command: string, agent?: string): Promise<string>;
}

export const alice = "global~alice";

/** Opens a Linux sandbox with its own data folder. */
export async function openSandbox(
  limits: Partial<LinuxLimits> = {},
  isFull: () => boolean = () => false,
): Promise<OpenedSandbox> {
  const folder = mkdtempSync(join(tmpdir(), "thinkery-linux-"));
  const home = await openHome({ THINKERY_HOME: join(folder, "home") });
  const errors: string[] = [];
  const sandbox = new LinuxSandbox({
    provider: createBubblewrapProvider({ home, onError: (text) => errors.push(text) }),
    limits: linuxLimitsSchema.parse(limits),
    isDiskFull: async () => isFull(),
  });
  onTestFinished(async () => {
    await sandbox.close();
    // Folders of deleted agents may still be being removed.
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  });
  const run: OpenedSandbox["run"] = (
    command,
    { timeoutMs, agent = alice, signal = new AbortController().signal, onOutput = () => {} } = {},
  ) => sandbox.run({ agent, command, timeoutMs }, { onOutput, hasRoom: () => true, signal });
  return {
    home,
    sandbox,
    errors,
    run,
    output: async (command, agent = alice) => (await run(command, { agent })).output.trimEnd(),
  };
}

/** Returns why the Linux sandbox does not work on this machine, or undefined if it does. */
export async function findSandboxIssue(): Promise<string | undefined> {
  const folder = mkdtempSync(join(tmpdir(), "thinkery-linux-"));
  try {
    const home = await openHome({ THINKERY_HOME: join(folder, "home") });
    return await createBubblewrapProvider({ home, onError() {} }).findIssue();
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
