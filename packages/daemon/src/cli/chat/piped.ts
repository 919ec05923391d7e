import { createInterface } from "node:readline";
import type { AgentTarget } from "@thinkery/sdk";
import type { Cli } from "../cli.ts";
import type { Connection } from "../connect.ts";
import { askOnce } from "../conversation/ask.ts";
import { exitCodes } from "../exit.ts";
import { stopOnInterrupt } from "../interrupt.ts";
import { checkMessage } from "../message.ts";

/** Runs a chat from piped input: sends each line as a message and waits for its response. */
export async function runPipedChat(cli: Cli, connection: Connection, target: AgentTarget): Promise<number> {
  const outcomes: Awaited<ReturnType<typeof askOnce>>[] = [];
  const cancel = stopOnInterrupt(cli, () =>
    cli.output.writeNote("Canceling the turn… Press Ctrl+C again to quit and leave it running."),
  );
  for await (const line of createInterface({ input: process.stdin, terminal: false })) {
    if (line.trim() === "") continue;
    const message = checkMessage(line);
    outcomes.push(await askOnce(cli, connection, target, { message, stream: true }, cancel));
    if (cancel.aborted || outcomes.at(-1)?.status === "waiting") break;
  }
  if (cli.output.isJson) cli.output.writeJson({ outcomes });
  if (cancel.aborted) return exitCodes.interrupted;
  if (outcomes.at(-1)?.status === "waiting") return exitCodes.waiting;
  return outcomes.every(({ status }) => status === "completed") ? exitCodes.ok : exitCodes.failed;
}
