import {
  type Approval,
  type ApprovalAnswer,
  type ApprovalStatus,
  approvalStatuses,
  fail,
  type Question,
  type RememberScope,
  rememberScopes,
} from "@thinkery/sdk";
import { type Client, withRetry } from "@thinkery/sdk/client";
import { type Command, Option } from "commander";
import type { Cli } from "../cli.ts";
import { connect } from "../connect.ts";
import { toOneLine } from "../conversation/lines.ts";
import { formatExamples } from "../help.ts";
import { readJsonArgument } from "../json-argument.ts";
import { parseAgencyTarget, parseTarget } from "../target.ts";
import {
  answerApproval,
  createApproval,
  createDenial,
  describeRemembered,
  explainScope,
  listDecided,
} from "../waits/answer-approval.ts";
import { formatAsker } from "../waits/explain.ts";
import { formatApproval, formatExpiry, summarizeCalls } from "../waits/format.ts";
import { findApproval, findByPrefix, listApprovals, listWaits, type OpenWaits, shortenIds } from "../waits/inbox.ts";

interface DecideFlags {
  call?: string[];
  reason?: string;
}

interface ApproveFlags extends DecideFlags {
  input?: string;
  result?: string;
  remember?: RememberScope;
}

const idHelp = "approval id, or its start (default: the only pending one)";

export function addApproval(program: Command, cli: Cli): void {
  const group = program.command("approval").description("list and answer what agents ask before they act");

  group
    .command("ls")
    .description("list pending approvals and open questions of all your agents")
    .argument("[target]", "only of alice (and her sub-agents), alice@review or @review")
    .addOption(
      new Option("--status <status>", "approvals with this status (default: pending)").choices([
        ...approvalStatuses,
        "all",
      ]),
    )
    .addHelpText(
      "after",
      formatExamples(["approval ls", ""], ["approval ls @review --status all", "answered ones, too"]),
    )
    .action(async (text: string | undefined, { status }: { status?: ApprovalStatus | "all" }) => {
      const scope = text === undefined ? undefined : parseTarget(cli, text);
      const { client } = await connect(cli);
      const waits =
        status === undefined || status === "pending"
          ? await listWaits(client, scope)
          : { approvals: await listApprovals(client, scope, status), questions: [] };
      cli.output.reply(waits, () => formatWaits(cli, waits));
    });

  group
    .command("show")
    .description("show an approval: its calls, why they are asked about, and what they would do")
    .argument("[id]", idHelp)
    .addHelpText("after", formatExamples(["approval show", ""], ["approval show 1f3c", ""]))
    .action(async (id: string | undefined) => {
      const { client } = await connect(cli);
      const approval = await findApproval(client, id);
      const { output } = cli;
      cli.output.reply(approval, () =>
        formatApproval(approval, {
          target: formatAsker(cli, approval.agent),
          paint: (line) => output.colorDiffLine(line),
          formatFields: (entries) => output.formatFields(entries),
        }),
      );
    });

  group
    .command("approve")
    .description("approve calls; the turn goes on with them")
    .argument("[id]", idHelp)
    .option("--call <id>", "only this call, repeatable (default: all)", collect)
    .option("--input <json>", "run the call with this input instead: JSON, or @file")
    .option("--result <text>", "do not run the call; the agent gets this result")
    .addOption(
      new Option(
        "--remember <scope>",
        "approve calls like these from now on: of this agent, or always of all agents in its agency",
      ).choices(rememberScopes),
    )
    .option("--reason <text>", "note for the record")
    .addHelpText(
      "after",
      formatExamples(
        ["approval approve", "the only pending one"],
        ["approval approve 1f3c --remember agent", ""],
        ["approval approve 1f3c --input @edited.json", ""],
        ['approval approve 1f3c --result "I did it myself."', ""],
      ),
    )
    .action(async (id: string | undefined, { call: calls = [], input, ...flags }: ApproveFlags) => {
      const given = input === undefined ? {} : { input: await readJsonArgument(cli, input, "--input") };
      const { client } = await connect(cli);
      const approval = await findApproval(client, id);
      await sendAnswer(cli, client, approval, createApproval(approval, { calls, ...flags, ...given }));
    });

  group
    .command("deny")
    .description("deny calls; the agent is told, and the turn goes on")
    .argument("[id]", idHelp)
    .option("--call <id>", "only this call, repeatable (default: all)", collect)
    .option("--reason <text>", "why; the agent reads it")
    .addHelpText(
      "after",
      formatExamples(
        ["approval deny", "the only pending one"],
        ['approval deny 1f3c --reason "Use the staging host."', ""],
      ),
    )
    .action(async (id: string | undefined, { call: calls = [], ...flags }: DecideFlags) => {
      const { client } = await connect(cli);
      const approval = await findApproval(client, id);
      await sendAnswer(cli, client, approval, createDenial(approval, { calls, ...flags }));
    });

  group
    .command("grants")
    .description("list what was approved with --remember in an agency")
    .argument("[agency]", "agency, as @review (default: @global)")
    .addHelpText("after", formatExamples(["approval grants", ""], ["approval grants @review", ""]))
    .action(async (text: string | undefined) => {
      const { agency } = parseAgencyTarget(cli, text);
      const { client } = await connect(cli);
      const { grants } = await withRetry((signal) => client.call("listGrants", { params: { agency }, signal }));
      cli.output.reply({ grants }, () => {
        if (grants.length === 0) return `Nothing is approved for good in ${agency}.`;
        const rows = grants.map(({ id, tool, match, agent, by, createdAt }) => [
          id,
          tool,
          match ?? "every call",
          agent === undefined ? "all" : formatAsker(cli, agent),
          by,
          createdAt,
        ]);
        return cli.output.formatTable(["ID", "TOOL", "MATCHING", "AGENT", "BY", "SINCE"], rows);
      });
    });

  group
    .command("forget")
    .description("remove a grant: calls like these are asked about again")
    .argument("<grant>", "id from `thinkery approval grants`, or its start")
    .argument("[agency]", "agency, as @review (default: @global)")
    .addHelpText("after", formatExamples(["approval forget 1f3c", ""], ["approval forget 1f3c @review", ""]))
    .action(async (given: string, text: string | undefined) => {
      const { agency } = parseAgencyTarget(cli, text);
      const { client } = await connect(cli);
      const { grants } = await withRetry((signal) => client.call("listGrants", { params: { agency }, signal }));
      const grant = findByPrefix(grants, given, ({ tool, match = "every call" }) => `${tool} ${match}`);
      if (!grant) {
        throw fail(
          "not_found",
          `No grant “${given}” in ${agency}. List them with \`thinkery approval grants @${agency}\`.`,
        );
      }
      await client.call("deleteGrant", { params: { agency, id: grant.id } }).catch((error: unknown) => {
        throw explainScope(error);
      });
      const { id, tool, match } = grant;
      cli.output.reply(
        { deleted: id },
        () => `Calls of ${tool}${match ? ` matching ${match}` : ""} are asked about again.`,
      );
    });
}

async function sendAnswer(
  cli: Cli,
  client: Client,
  approval: Approval,
  answer: Partial<ApprovalAnswer>,
): Promise<void> {
  const answered = await answerApproval(client, approval, answer);
  cli.output.reply(answered, () => {
    const verb = answer.approved === false || answer.decisions?.[0]?.approved === false ? "Denied" : "Approved";
    const decided = listDecided(approval, answer);
    const names = toOneLine([...new Set(decided.map(({ name }) => name))].join(", "), 200);
    const isRemembered = answer.remember !== undefined && answer.remember !== "once";
    const allowed = isRemembered ? ` Not asked about any more: ${toOneLine(describeRemembered(decided), 500)}.` : "";
    const done = `${verb} ${names} of ${formatAsker(cli, approval.agent)}.${allowed}`;
    const open = answered.calls.filter(({ decision }) => !decision).map(({ id, name }) => `${id} (${name})`);
    if (answered.status !== "pending") return `${done} The turn goes on.`;
    return `${done} Still to decide: ${toOneLine(open.join(", "), 500)}.`;
  });
}

function formatWaits(cli: Cli, { approvals, questions }: OpenWaits): string {
  if (approvals.length + questions.length === 0) return "Nothing waits for you.";
  const shorten = shortenIds([...approvals, ...questions].map(({ id }) => id));
  const showsStatus = approvals.some(({ status }) => status !== "pending");
  const rows = [
    ...approvals.map(({ id, agent, calls, status, createdAt, expiresAt }) => [
      shorten(id),
      formatAsker(cli, agent),
      summarizeCalls(calls),
      ...(showsStatus ? [status] : []),
      createdAt,
      status === "pending" ? formatExpiry(expiresAt) : "-",
    ]),
    ...questions.map((question) => [
      shorten(question.id),
      formatAsker(cli, question.agent),
      summarizeQuestion(question),
      ...(showsStatus ? ["pending"] : []),
      question.createdAt,
      "-",
    ]),
  ];
  return cli.output.formatTable(["ID", "AGENT", "ASKS", ...(showsStatus ? ["STATUS"] : []), "SINCE", "EXPIRES"], rows);
}

const summarizeQuestion = ({ prompt = "" }: Question) => `“${toOneLine(prompt, 80)}”`;

function collect(text: string, previous: string[] = []): string[] {
  return [...previous, text];
}
