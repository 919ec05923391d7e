import { fail, isThinkeryError } from "@thinkery/sdk";
import type { Client } from "@thinkery/sdk/client";
import type { Command } from "commander";
import { findAgent } from "../agents.ts";
import type { Cli } from "../cli.ts";
import { connect } from "../connect.ts";
import { formatExamples } from "../help.ts";
import { type AgentTarget, parseAgentTarget } from "../target.ts";

/** Used when no target is given. */
const defaultAgent = "chat";

export function addChat(program: Command, cli: Cli): void {
  program
    .command("chat")
    .description("chat with an agent in the terminal")
    .argument("[target]", "agent, as alice or alice@review (default: an agent named chat, created if missing)")
    .addHelpText(
      "after",
      formatExamples(
        ["chat", ""],
        ["chat alice@review", "Ctrl+C cancels the turn; press it again to quit"],
        ["chat alice < questions.txt", "one message per line"],
      ),
    )
    .action(async (text: string | undefined) => {
      const target = parseAgentTarget(cli, text ?? defaultAgent);
      const atTerminal = Boolean(process.stdin.isTTY && process.stdout.isTTY);
      if (atTerminal && cli.output.isJson) throw fail("bad_request", "--json only works with piped input.");
      const connection = await connect(cli);
      await (text === undefined ? ensureDefaultAgent(connection.client, target) : findAgent(connection.client, target));
      if (!atTerminal) {
        const { runPipedChat } = await import("../chat/piped.ts");
        return cli.setExitCode(await runPipedChat(cli, connection, target));
      }
      const { runChat } = await import("../chat/chat.ts");
      cli.setExitCode(await runChat(cli, connection, target));
    });
}

async function ensureDefaultAgent(client: Client, { agency, agent }: AgentTarget): Promise<void> {
  try {
    await client.call("getAgent", { params: { agency, agent } });
  } catch (error) {
    if (!isThinkeryError(error) || error.code !== "not_found") throw error;
    await client.call("createAgent", { params: { agency }, body: { name: agent } });
  }
}
