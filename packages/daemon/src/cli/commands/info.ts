import { fail } from "@thinkery/sdk";
import type { Client } from "@thinkery/sdk/client";
import type { Command } from "commander";
import type { Cli } from "../cli.ts";
import { connect } from "../connect.ts";
import { examples } from "../help.ts";
import { listAgencies, listAgents } from "../lists.ts";
import { type AgentTarget, parseTarget } from "../target.ts";

export function addInfo(program: Command, cli: Cli): void {
  program
    .command("info")
    .description("show one agent or agency")
    .argument("<target>", "alice, alice@review or @review")
    .addHelpText("after", examples(["info alice@review", ""], ["info @review", "the agency itself"]))
    .action(async (text: string) => {
      const target = parseTarget(text);
      const { client } = await connect(cli);
      await (target.kind === "agent" ? showAgent(cli, client, target) : showAgency(cli, client, target.agency));
    });
}

async function showAgent(cli: Cli, client: Client, { agent, agency }: AgentTarget): Promise<void> {
  const found = await client.call("getAgent", { params: { agency, agent } });
  cli.output.reply(found, () =>
    cli.output.facts([
      ["name", found.name],
      ["agency", found.agency],
      ["blueprint", found.blueprint],
      ["driver", found.driver],
      ["model", found.model ?? "the default"],
      ["system", found.system],
      ["owner", found.owner],
      ["created", found.createdAt],
    ]),
  );
}

async function showAgency(cli: Cli, client: Client, id: string): Promise<void> {
  const found = (await listAgencies(client)).find((agency) => agency.id === id);
  if (!found) throw fail("not_found", `There is no agency “${id}”; \`thinkery agency ls\` lists them.`);
  const agents = (await listAgents(client, id)).map(({ name }) => name);
  cli.output.reply({ ...found, agents }, () =>
    cli.output.facts([
      ["agency", found.id],
      ["name", found.name],
      ["owner", found.owner],
      ["created", found.createdAt],
      ["agents", agents.join(", ") || "none"],
    ]),
  );
}
