import type { Channel } from "@thinkery/sdk";
import { type Client, withRetry } from "@thinkery/sdk/client";
import type { Command } from "commander";
import { explainMissingAgency } from "../agents.ts";
import type { Cli } from "../cli.ts";
import { confirm } from "../confirm.ts";
import { connect } from "../connect.ts";
import { formatWhen } from "../format-when.ts";
import { formatExamples } from "../help.ts";
import { readAllPages } from "../lists.ts";
import { formatAgencySuffix, parseAgencyTarget, parseChannelTarget } from "../target.ts";
import { explainMissingChannel } from "./messages.ts";
import { channelHelp } from "./read.ts";

export function addList(group: Command, cli: Cli): void {
  group
    .command("ls")
    .description("list the channels of an agency")
    .argument("[agency]", "agency, as @review (default: @global)")
    .addHelpText("after", formatExamples(["channel ls", ""], ["channel ls @review", ""]))
    .action(async (text: string | undefined) => {
      const { agency } = parseAgencyTarget(cli, text);
      const { client } = await connect(cli);
      const channels = await listChannels(client, agency).catch(async (error: unknown) => {
        throw await explainMissingAgency(client, agency, error);
      });
      cli.output.reply({ channels }, () => {
        const rows = channels.map((channel) => [
          `#${channel.name}`,
          String(channel.messages),
          channel.lastMessageAt === undefined ? "-" : formatWhen(channel.lastMessageAt, Date.now()),
          describeChannel(channel),
        ]);
        return cli.output.formatTable(["NAME", "MESSAGES", "LATEST", "DESCRIPTION"], rows);
      });
    });
}

export function addNew(group: Command, cli: Cli): void {
  group
    .command("new")
    .description("create a channel")
    .argument("<channel>", "name, as dev or dev@review")
    .option("--description <text>", "what it is for")
    .addHelpText(
      "after",
      formatExamples(["channel new dev@review", ""], ['channel new dev --description "Builds"', ""]),
    )
    .action(async (text: string, { description }: { description?: string }) => {
      const { agency, channel: name } = parseChannelTarget(cli, text);
      const { client } = await connect(cli);
      const body = { name, ...(description === undefined ? {} : { description }) };
      const channel = await client.call("createChannel", { params: { agency }, body }).catch(async (error: unknown) => {
        throw await explainMissingAgency(client, agency, error);
      });
      const address = `#${channel.name}${formatAgencySuffix(cli, agency)}`;
      cli.output.reply(channel, () => `Created ${address}. Write to it with \`thinkery channel send '${address}'\`.`);
    });
}

export function addRemove(group: Command, cli: Cli): void {
  group
    .command("rm")
    .description("delete a channel with its messages")
    .argument("<channel>", channelHelp)
    .option("-y, --yes", "skip confirmation")
    .addHelpText("after", formatExamples(["channel rm dev@review", ""], ["channel rm dev --yes", ""]))
    .action(async (text: string, { yes }: { yes?: boolean }) => {
      const target = parseChannelTarget(cli, text);
      const { agency, channel } = target;
      const { client } = await connect(cli);
      if (!yes) await confirm(cli, `Delete the channel ${channel} in ${agency} and all its messages?`);
      await client.call("deleteChannel", { params: { agency, channel } }).catch(async (error: unknown) => {
        throw await explainMissingChannel(client, target, error);
      });
      cli.output.reply({ deleted: channel, agency }, () => `Deleted #${channel} in ${agency}.`);
    });
}

export function listChannels(client: Client, agency: string): Promise<Channel[]> {
  return readAllPages(async (query) => {
    const page = await withRetry((signal) => client.call("listChannels", { params: { agency }, query, signal }));
    return { items: page.channels, next: page.next };
  });
}

function describeChannel({ kind, members = [], description = "" }: Channel): string {
  return kind === "direct" ? `direct messages of ${members.join(" and ")}` : description;
}
