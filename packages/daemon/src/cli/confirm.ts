import { createInterface } from "node:readline/promises";
import { fail } from "@thinkery/sdk";
import type { Cli } from "./cli.ts";

/** Asks for confirmation of a destructive action. Throws if it is declined, or if there is nobody to ask. */
export async function confirm(cli: Cli, question: string, refusal = "Aborted. Nothing was deleted."): Promise<void> {
  if (!cli.isInteractive) {
    throw fail("bad_request", `${question} Pass --yes to confirm; there is no terminal to ask at.`);
  }
  const prompt = createInterface({ input: process.stdin, output: process.stderr });
  // Otherwise the prompt swallows Ctrl+C.
  prompt.on("SIGINT", () => process.kill(process.pid, "SIGINT"));
  try {
    const answer = await prompt.question(`${question} [y/N] `);
    if (!/^y(es)?$/i.test(answer.trim())) throw fail("conflict", refusal);
  } finally {
    prompt.close();
  }
}
