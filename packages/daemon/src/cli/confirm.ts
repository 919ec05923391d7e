import { createInterface } from "node:readline/promises";
import { fail } from "@thinkery/sdk";
import type { Cli } from "./cli.ts";

/** Asks before something is gone for good; a script that nobody watches has already decided. */
export async function confirm(cli: Cli, question: string): Promise<void> {
  if (!cli.isInteractive) return;
  const prompt = createInterface({ input: process.stdin, output: process.stderr });
  // The prompt swallows Ctrl+C otherwise.
  prompt.on("SIGINT", () => process.kill(process.pid, "SIGINT"));
  try {
    const answer = await prompt.question(`${question} [y/N] `);
    if (!/^y(es)?$/i.test(answer.trim())) throw fail("conflict", "Nothing was deleted.");
  } finally {
    prompt.close();
  }
}
