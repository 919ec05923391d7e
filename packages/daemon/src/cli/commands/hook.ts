import type { CreatedWebhook } from "@thinkery/sdk";
import type { Command } from "commander";
import { findAgent } from "../agents.ts";
import type { Cli } from "../cli.ts";
import { confirm } from "../confirm.ts";
import { connect } from "../connect.ts";
import { formatExamples } from "../help.ts";
import { mapAgents } from "../lists.ts";
import { type AgentTarget, getDefaultAgency, parseAgentTarget, parseTarget } from "../target.ts";

const targetHelp = "agent, as alice or alice@review";

/** What other programs send to agents. */
export function addHook(program: Command, cli: Cli): void {
  const group = program
    .command("hook")
    .description("let other programs send an agent signed messages")
    .addHelpText("after", formatExamples(["hook add alice deploys", ""], ["hook ls alice", ""]));

  group
    .command("ls")
    .description("list webhooks, without their secrets")
    .argument("[target]", `${targetHelp}, or an agency, as @review (default: @global)`)
    .addHelpText("after", formatExamples(["hook ls", ""], ["hook ls alice", ""]))
    .action(async (text: string | undefined) => {
      const { client, url } = await connect(cli);
      const target = text === undefined ? undefined : parseTarget(cli, text);
      const agency = target?.agency ?? getDefaultAgency(cli);
      const list = async (name: string) => {
        const hooks = await client.agent(`${name}@${agency}`).webhooks();
        return hooks.map((hook) => ({ agent: name, ...hook, url: url + hook.url }));
      };
      const hooks =
        target?.kind === "agent"
          ? await list((await findAgent(client, target)).name)
          : (await mapAgents(client, agency, ({ name }) => list(name))).flat();
      cli.output.reply({ hooks }, () => {
        if (hooks.length === 0) return "No webhooks. Add one with `thinkery hook add <agent> <name>`.";
        const rows = hooks.map((hook) => [
          hook.agent,
          hook.name,
          hook.url,
          hook.createdBy,
          hook.lastDeliveryAt ?? "never",
        ]);
        return cli.output.formatTable(["AGENT", "NAME", "URL", "CREATED BY", "LAST DELIVERY"], rows);
      });
    });

  group
    .command("add")
    .description("create a webhook; its URL and its secret are printed once")
    .argument("<target>", targetHelp)
    .argument("<name>", "name of the webhook")
    .addHelpText("after", formatExamples(["hook add alice deploys", ""]))
    .action(async (text: string, name: string) => {
      const { agent, url } = await open(cli, text);
      const created = await agent.createWebhook(name);
      const hook = { ...created, url: url + created.url };
      const fields: [string, string][] = [
        ["url", hook.url],
        ["secret", hook.secret],
      ];
      cli.output.reply(hook, () => cli.output.formatFields(fields));
      if (cli.output.isJson) return;
      cli.output.writeMessage("Store the secret now; it will not be shown again. To try it:\n");
      cli.output.writeMessage(formatExample(hook));
    });

  group
    .command("rm")
    .description("delete a webhook; its secret stops working at once")
    .argument("<target>", targetHelp)
    .argument("<name>", "name of the webhook")
    .option("-y, --yes", "skip confirmation")
    .addHelpText("after", formatExamples(["hook rm alice deploys --yes", ""]))
    .action(async (text: string, name: string, { yes }: { yes?: boolean }) => {
      const { agent, target } = await open(cli, text);
      if (!yes) await confirm(cli, `Delete the webhook ${name} of ${target.agent} in ${target.agency}?`);
      await agent.deleteWebhook(name);
      cli.output.reply({ removed: name, agent: target.agent, agency: target.agency }, () => `Deleted ${name}.`);
    });
}

async function open(cli: Cli, text: string) {
  const target: AgentTarget = parseAgentTarget(cli, text);
  const { client, url } = await connect(cli);
  await findAgent(client, target);
  return { agent: client.agent(`${target.agent}@${target.agency}`), url, target };
}

/** Formats shell commands that send a signed body. */
function formatExample({ url, secret }: Pick<CreatedWebhook, "url" | "secret">): string {
  return `secret='${secret}'
body='{"hello":"world"}'
t=$(date +%s)
v1=$(printf '%s.%s' "$t" "$body" | openssl dgst -sha256 -hmac "$secret" -r | cut -d ' ' -f 1)
curl -sS '${url}' -H 'Content-Type: application/json' -H "X-Thinkery-Signature: t=$t,v1=$v1" --data-binary "$body"`;
}
