import { randomUUID } from "node:crypto";
import { type Admission, type AgentTarget, fail, type Mode, modes } from "@thinkery/sdk";
import { withRetry } from "@thinkery/sdk/client";
import { type Command, Option } from "commander";
import { findAgent } from "../agents.ts";
import { readChannelMessage, requireTarget, sendToChannel } from "../channel/send.ts";
import type { Cli } from "../cli.ts";
import { connect } from "../connect.ts";
import { ask } from "../conversation/ask.ts";
import { formatExamples } from "../help.ts";
import { readMessage } from "../message.ts";
import { isChannelTarget, parseAgentTarget, parseChannelTarget } from "../target.ts";

interface SendFlags {
  mode: Mode;
  key?: string;
  wait?: boolean;
}

export function addSend(program: Command, cli: Cli): void {
  program
    .command("send")
    .description("send a message to an agent or a channel without waiting for a response")
    .argument("[target]", "agent, as alice or alice@review, or a channel, as '#general@review' (in quotes)")
    .argument("[message...]", "message text; reads stdin if omitted or -")
    .addOption(createModeOption())
    .option("--key <id>", "idempotency key: a message with the same key is sent only once")
    .option("--wait", "wait for the response and print it")
    .addHelpText(
      "after",
      formatExamples(
        ['send alice "Look at the failing test."', ""],
        ["send alice --mode steer Use the other branch.", "join the running turn"],
        ["git diff | thinkery send reviewer@review --wait", "read stdin, print the response"],
        [`send '#general@review' "@alice, are you done?"`, "see also `thinkery channel send`"],
      ),
    )
    .action(async (given: string | undefined, words: string[], { mode, ...flags }: SendFlags) => {
      const text = requireTarget(given, `thinkery send '#general' "Hello!"`);
      if (isChannelTarget(text)) {
        const target = parseChannelTarget(cli, text);
        if (mode !== "queue")
          throw fail("bad_request", "--mode is for agents; a channel's messages are always queued.");
        return sendToChannel(cli, target, await readChannelMessage(words), flags);
      }
      const { key, wait } = flags;
      const target = parseAgentTarget(cli, text);
      const message = await readMessage(words);
      const connection = await connect(cli);
      await findAgent(connection.client, target);
      if (wait) {
        const options = { message, mode, stream: false, showProgress: true, ...(key === undefined ? {} : { key }) };
        return cli.setExitCode(await ask(cli, connection, target, options));
      }
      const body = { message, mode, idempotencyKey: key ?? randomUUID() };
      const { agency, agent } = target;
      const admission = await withRetry((signal) =>
        connection.client.call("invoke", { params: { agency, agent }, body, signal }),
      );
      cli.output.reply(admission, () => describeAdmission(target, admission));
    });
}

/** What happens to a message while a turn is running. */
export function createModeOption(): Option {
  const description = "during a running turn: queue waits for it, steer joins it, interrupt cancels it";
  return new Option("--mode <mode>", description).choices(modes).default("queue");
}

function describeAdmission({ agent }: AgentTarget, { runId, position, duplicate }: Admission): string {
  if (duplicate) return `${agent} already received this message as turn ${runId}.`;
  if (position === 0) return `Sent to ${agent} as turn ${runId}.`;
  return `Queued for ${agent} as turn ${runId}, behind ${position} other turn${position === 1 ? "" : "s"}.`;
}
