import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "vitest";
import { run as runProgram } from "../../packages/daemon/src/cli/run.ts";
import type { CliResult } from "./host-process.ts";

interface RunOptions {
  isTTY?: boolean;
  env?: Record<string, string>;
}

/** Runs the CLI in this process, because spawning one would take most of the time. It cannot read stdin. */
export function bindCliInProcess(host: () => { url: string; token: string }) {
  const folder = mkdtempSync(join(tmpdir(), "thinkery-cli-"));

  async function thinkery(argv: readonly string[], { isTTY = false, env = {} }: RunOptions = {}): Promise<CliResult> {
    const written: Record<"out" | "err", Buffer[]> = { out: [], err: [] };
    const sink = (chunks: Buffer[]) => ({
      isTTY,
      write: (text: string | Uint8Array) => chunks.push(Buffer.from(text as string)),
    });
    const code = await runProgram({
      argv: [...argv],
      env: { THINKERY_HOME: join(folder, "home"), THINKERY_URL: host().url, THINKERY_TOKEN: host().token, ...env },
      cwd: folder,
      entry: "",
      version: undefined,
      isInteractive: false,
      takeOverInterrupts: () => {},
      stdout: sink(written.out),
      stderr: sink(written.err),
    });
    return { code, stdout: Buffer.concat(written.out).toString(), stderr: Buffer.concat(written.err).toString() };
  }

  /** Runs a command that succeeds and writes nothing to stderr. */
  async function run(...args: string[]): Promise<string> {
    const { code, stdout, stderr } = await thinkery(args);
    expect({ args, code, stderr }).toEqual({ args, code: 0, stderr: "" });
    return stdout;
  }

  return {
    folder,
    thinkery,
    run,
    runJson: async (...args: string[]) => JSON.parse(await run(...args, "--json")),
    /** Expects this exit code, a message on stderr, and nothing on stdout for the next program in a pipe. */
    async expectError(args: readonly string[], code: number, message: RegExp | string): Promise<void> {
      const result = await thinkery(args);
      expect({ args, code: result.code, stdout: result.stdout }).toEqual({ args, code, stdout: "" });
      if (typeof message === "string") expect(result.stderr).toContain(message);
      else expect(result.stderr).toMatch(message);
    },
  };
}
