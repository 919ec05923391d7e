import type { Workflow } from "@thinkery/sdk";
import type { Cli } from "../cli.ts";
import { confirm } from "../confirm.ts";
import type { Connection } from "../connect.ts";
import { sanitizeIndented } from "../output.ts";

/**
 * The commands of a stored workflow run on this machine. Those of a host elsewhere are only run if somebody has seen
 * them: its administrator could have written them.
 */
export async function confirmSetup(
  cli: Cli,
  { name, setup = [] }: Workflow,
  { url }: Connection,
  isAgreed: boolean,
): Promise<void> {
  if (setup.length === 0 || isAgreed || !cli.env.THINKERY_URL) return;
  const commands = `The workflow ${name} of ${url} runs commands on this machine:`;
  cli.output.writeMessage(commands);
  for (const { shell } of setup) cli.output.writeMessage(`  $ ${sanitizeIndented(shell)}`);
  await confirm(cli, "Run them?", "Aborted. Nothing was run.");
}
