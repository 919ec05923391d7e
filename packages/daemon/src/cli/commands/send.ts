import { randomUUID } from "node:crypto";
import { type Admission, type AgentTarget, type Mode, modes } from "@thinkery/sdk";
import { type Command, Option } from "commander";
import { findAgent } from "../agents.ts";
import type { Cli } from "../cli.ts";
import { connect } from "../connect.ts";
import { formatExamples } from "../help.ts";
import { readMessage } from "../message.ts";
import { persist } from "../persist.ts";
import { ask } from "../talk/ask.ts";
import { parseAgentTarget } from "../target.ts";

interface SendFlags {
  mode: Mode;
  key?: string;
  wait?: boolean;
}

export function addSend(program: Command, cli: Cli): void {
  program
    .command("send")
    .description("give an agent a message and leave; the agent works on it by itself")
    .argument("<target>", "alice or alice@review")
    .argument("[message...]", "what to say; - or nothing reads stdin")
    .addOption(createModeOption())
    .option("--key <id>", "the message's own id: the same key twice is the same message")
    .option("--wait", "wait for the answer and print it")
    .addHelpText(
      "after",
      formatExamples(
        ['send alice "Look at the failing test."', ""],
        ["send alice --mode steer Use the other branch.", "join the turn that runs"],
        ["git diff | thinkery send reviewer@review --wait", "read stdin, print the answer"],
      ),
    )
    .action(async (text: string, words: string[], { mode, key, wait }: SendFlags) => {
      const target = parseAgentTarget(text);
      const message = await readMessage(words);
      const connection = await connect(cli);
      await findAgent(connection.client, target);
      if (wait) {
        const question = { message, mode, stream: false, deeds: true, ...(key === undefined ? {} : { key }) };
        return cli.setExitCode(await ask(cli, connection, target, question));
      }
      const body = { message, mode, idempotencyKey: key ?? randomUUID() };
      const { agency, agent } = target;
      const admission = await persist((signal) =>
        connection.client.call("invoke", { params: { agency, agent }, body, signal }),
      );
      cli.output.reply(admission, () => describeAdmission(target, admission));
    });
}

/** How a message meets a turn that runs. */
export function createModeOption(): Option {
  const about = "queue: wait; steer: join the turn that runs; interrupt: end it and go first";
  return new Option("--mode <mode>", about).choices(modes).default("queue");
}

function describeAdmission({ agent }: AgentTarget, { runId, position, duplicate }: Admission): string {
  if (duplicate) return `${agent} has this message already; it is turn ${runId}.`;
  const first = position === 0 ? "" : `, after ${position} other${position === 1 ? "" : "s"}`;
  return `${agent} has it as turn ${runId}${first}.`;
}
