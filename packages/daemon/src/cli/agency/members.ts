import type { Member, Scope, TeamAgent, UserMember } from "@thinkery/sdk";
import type { Client } from "@thinkery/sdk/client";
import type { Command } from "commander";
import { type AgencyFlags, createAgencyOption, getAgency } from "../agency-option.ts";
import { explainMissingAgency } from "../agents.ts";
import type { Cli } from "../cli.ts";
import { confirm } from "../confirm.ts";
import { connect } from "../connect.ts";
import { toOneLine } from "../conversation/lines.ts";
import { formatExamples } from "../help.ts";
import { listMembers } from "../lists.ts";
import { createScopeOption } from "../scope-option.ts";
import { toAgency } from "./show.ts";

export function addMembers(group: Command, cli: Cli): void {
  group
    .command("members")
    .description("list the people who may use an agency, then its agents with what they do")
    .argument("[agency]", "agency id, as review or @review (default: global)")
    .addHelpText("after", formatExamples(["agency members", ""], ["agency members review", ""]))
    .action(async (text: string | undefined) => {
      const agency = toAgency(cli, text);
      const { client } = await connect(cli);
      const members = await listMembers(client, agency).catch((error: unknown) => rethrow(client, agency, error));
      cli.output.reply({ members }, () =>
        cli.output.formatTable(["NAME", "KIND", "STATUS", "NOTE"], members.map(formatMember)),
      );
    });
}

export function addAddMember(group: Command, cli: Cli): void {
  group
    .command("add-member")
    .description("let another user of the host use an agency, or change what they may do")
    .argument("<user>", "name of the user, see `thinkery user ls`")
    .addOption(createScopeOption("chat"))
    .addOption(createAgencyOption())
    .addHelpText(
      "after",
      formatExamples(
        ["agency add-member bob -a @review", ""],
        ["agency add-member bob -a @review --scope chat,approve", ""],
      ),
    )
    .action(async (user: string, { scope, ...flags }: AgencyFlags & { scope?: Scope[] }) => {
      const agency = getAgency(cli, flags);
      const { client } = await connect(cli);
      const body = scope === undefined ? {} : { scopes: scope };
      const member = await client
        .call("putMember", { params: { agency, user }, body })
        .catch((error: unknown) => rethrow(client, agency, error));
      cli.output.reply(member, () => `${member.name} may now use ${agency}: ${member.scopes.join(", ")}.`);
    });
}

export function addRemoveMember(group: Command, cli: Cli): void {
  group
    .command("rm-member")
    .description("take an agency away from a user again")
    .argument("<user>", "name of the user")
    .option("-y, --yes", "skip confirmation")
    .addOption(createAgencyOption())
    .addHelpText("after", formatExamples(["agency rm-member bob -a @review", ""]))
    .action(async (user: string, { yes, ...flags }: AgencyFlags & { yes?: boolean }) => {
      const agency = getAgency(cli, flags);
      const { client } = await connect(cli);
      if (!yes) await confirm(cli, `Take the agency ${agency} away from ${user}?`);
      await client
        .call("deleteMember", { params: { agency, user } })
        .catch((error: unknown) => rethrow(client, agency, error));
      cli.output.reply({ removed: user, agency }, () => `${user} may no longer use ${agency}.`);
    });
}

async function rethrow(client: Client, agency: string, error: unknown): Promise<never> {
  throw await explainMissingAgency(client, agency, error);
}

function formatMember(member: Member): string[] {
  return member.kind === "user" ? formatUser(member) : [member.name, "agent", formatStatus(member), describe(member)];
}

const formatUser = ({ name, owner, scopes }: UserMember) => [name, owner ? "owner" : "person", scopes.join(", "), ""];

/** Formats what an agent does: `working (bash)`, or `waiting for approval`. */
function formatStatus({ status, tool, waitingFor }: TeamAgent): string {
  if (status === "waiting" && waitingFor) return `waiting for ${waitingFor}`;
  return tool === undefined ? status : `${status} (${tool})`;
}

function describe({ role, note, task, error, inbox }: TeamAgent): string {
  const open = inbox.pending + inbox.seen + inbox.deferred;
  const parts = [
    note ?? role,
    task === undefined ? undefined : `task ${task}`,
    open === 0 ? undefined : `${open} to handle`,
    inbox.givenUp === 0 ? undefined : `${inbox.givenUp} given up`,
    error,
  ];
  return toOneLine(parts.filter(Boolean).join("; "), 100);
}
