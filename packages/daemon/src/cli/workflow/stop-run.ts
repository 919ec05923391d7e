import type { Cli } from "../cli.ts";
import { connect } from "../connect.ts";
import { resolveRun } from "./find-run.ts";

/** Stops a run. Its messages wait until it is resumed. */
export async function stopRun(cli: Cli, text: string, tag?: string): Promise<void> {
  const { client } = await connect(cli);
  const { agency } = await resolveRun(cli, client, text, tag);
  const run = await client.workflowRun(agency).stop();
  cli.output.reply(run, () => `Stopped @${agency}. Resume it with \`thinkery workflow start @${agency}\`.`);
}

/** Goes on with a run that was stopped. */
export async function resumeRun(cli: Cli, text: string, tag?: string): Promise<void> {
  const { client } = await connect(cli);
  const { agency } = await resolveRun(cli, client, text, tag);
  const run = await client.workflowRun(agency).start();
  cli.output.reply(run, () => `Resumed @${agency}. Follow it with \`thinkery workflow follow @${agency}\`.`);
}
