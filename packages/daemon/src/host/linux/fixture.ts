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
  /** Runs a command for alice, or for whoever is named. */
  run(
    command: string,
    options?: { timeoutMs?: number; agent?: string; signal?: AbortSignal; onOutput?(text: string): void },
  ): Promise<CommandResult>;
  /** What it wrote, without the last line's end. */
  output(command: string, agent?: string): Promise<string>;
}

export const alice = "global~alice";

/** A Linux sandbox with a data folder of its own. */
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
    // What a test put away may be on its way out.
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

/** Why there is no Linux sandbox on this machine; nothing where there is one. */
export async function findSandboxProblem(): Promise<string | undefined> {
  const folder = mkdtempSync(join(tmpdir(), "thinkery-linux-"));
  try {
    const home = await openHome({ THINKERY_HOME: join(folder, "home") });
    return await createBubblewrapProvider({ home, onError() {} }).findProblem();
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
