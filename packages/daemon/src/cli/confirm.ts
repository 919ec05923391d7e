import { createInterface } from "node:readline/promises";
import { fail } from "@thinkery/sdk";
import type { Cli } from "./cli.ts";

/** Asks for confirmation of a destructive action; throws if it is declined. Never asks in a script. */
export async function confirm(cli: Cli, question: string): Promise<void> {
  if (!cli.isInteractive) return;
  const prompt = createInterface({ input: process.stdin, output: process.stderr });
  // Otherwise the prompt swallows Ctrl+C.
  prompt.on("SIGINT", () => process.kill(process.pid, "SIGINT"));
  try {
    const answer = await prompt.question(`${question} [y/N] `);
    if (!/^y(es)?$/i.test(answer.trim())) throw fail("conflict", "Aborted. Nothing was deleted.");
  } finally {
    prompt.close();
  }
}
