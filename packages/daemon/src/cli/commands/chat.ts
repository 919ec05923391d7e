import { type AgentTarget, fail, globalAgency, isThinkeryError } from "@thinkery/sdk";
import type { Client } from "@thinkery/sdk/client";
import type { Command } from "commander";
import { findAgent } from "../agents.ts";
import type { Cli } from "../cli.ts";
import { connect } from "../connect.ts";
import { examples } from "../help.ts";
import { parseAgentTarget } from "../target.ts";

/** Whom one talks to who names nobody. */
const usual: AgentTarget = { kind: "agent", agent: "chat", agency: globalAgency };

export function addChat(program: Command, cli: Cli): void {
  program
    .command("chat")
    .description("talk with an agent at the terminal")
    .argument("[target]", "alice or alice@review (default: an agent named chat, made when missing)")
    .addHelpText(
      "after",
      examples(
        ["chat", ""],
        ["chat alice@review", "Ctrl+C cancels the turn, a second one leaves"],
        ["chat alice < questions.txt", "a message a line"],
      ),
    )
    .action(async (text: string | undefined) => {
      const target = text === undefined ? usual : parseAgentTarget(text);
      const atTerminal = Boolean(process.stdin.isTTY && process.stdout.isTTY);
      if (atTerminal && cli.output.json) throw fail("bad_request", "--json is for a chat from a file; pipe one in.");
      const connection = await connect(cli);
      await (text === undefined ? ensureUsual(connection.client) : findAgent(connection.client, target));
      if (!atTerminal) {
        const { chatPiped } = await import("../chat/piped.ts");
        return cli.exitWith(await chatPiped(cli, connection, target));
      }
      const { chat } = await import("../chat/chat.ts");
      cli.exitWith(await chat(cli, connection, target));
    });
}

async function ensureUsual(client: Client): Promise<void> {
  const { agency, agent } = usual;
  try {
    await client.call("getAgent", { params: { agency, agent } });
  } catch (error) {
    if (!isThinkeryError(error) || error.code !== "not_found") throw error;
    await client.call("createAgent", { params: { agency }, body: { name: agent } });
  }
}
