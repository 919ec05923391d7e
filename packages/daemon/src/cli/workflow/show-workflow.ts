import type { WorkflowRun } from "@thinkery/sdk";
import { type Client, withRetry } from "@thinkery/sdk/client";
import type { Cli } from "../cli.ts";
import { formatCost, toOneLine } from "../conversation/lines.ts";
import { readAllPages } from "../lists.ts";
import { sanitize, sanitizeIndented } from "../output.ts";
import { formatTime } from "../schedule-table.ts";
import { formatCount } from "./agent-lines.ts";
import { summarizeRun } from "./run-end.ts";
import { readStoredWorkflow } from "./workflow-source.ts";

/** Prints a run with what its agents do. */
export async function showRun(cli: Cli, client: Client, run: WorkflowRun): Promise<void> {
  const { agency } = run;
  const members = await readAllPages(async (query) => {
    const page = await withRetry((signal) => client.call("listMembers", { params: { agency }, query, signal }));
    return { items: page.members, next: page.next };
  });
  const agents = members.flatMap((member) => (member.kind === "agent" ? [member] : []));
  cli.output.reply({ ...run, members: agents }, () => {
    const { formatFields, formatTable } = cli.output;
    const fields = formatFields.call(cli.output, [
      ["run", `@${agency}`],
      ["status", run.status + (run.reason === undefined ? "" : ` (${run.reason})`)],
      ["because", run.message],
      ["started", `${formatTime(run.startedAt, Date.now())} by ${run.startedBy}`],
      ["so far", summarizeRun(run)],
      ["kickoff", run.kickoff && toOneLine(run.kickoff, 500)],
    ]);
    const rows = agents.map((agent) => [
      agent.name,
      agent.status,
      String(agent.steps),
      formatCount(agent.tokens),
      formatCost(agent.costUsd),
      String(agent.inbox.pending + agent.inbox.seen + agent.inbox.deferred),
      agent.inbox.givenUp === 0 ? "" : String(agent.inbox.givenUp),
      agent.error ?? agent.note ?? agent.role ?? "",
    ]);
    const table = formatTable.call(
      cli.output,
      ["AGENT", "STATUS", "STEPS", "TOKENS", "COST", "INBOX", "GIVEN UP", "NOTE"],
      rows,
    );
    return [fields, table, ...(run.result ? [sanitizeIndented(`Result:\n${run.result}`)] : [])].join("\n\n");
  });
}

/** Prints a stored workflow as a file. */
export async function showWorkflow(cli: Cli, client: Client, name: string): Promise<void> {
  const workflow = await readStoredWorkflow(client, name);
  const { formatWorkflow } = await import("../../workflow/format-workflow.ts");
  cli.output.reply(workflow, () => sanitize(formatWorkflow(workflow)));
}
