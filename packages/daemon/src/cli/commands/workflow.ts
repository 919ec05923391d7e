import { fail, type WorkflowRun } from "@thinkery/sdk";
import { withRetry } from "@thinkery/sdk/client";
import type { Command } from "commander";
import type { Cli } from "../cli.ts";
import { confirm } from "../confirm.ts";
import { connect } from "../connect.ts";
import { formatExamples } from "../help.ts";
import { readAllPages } from "../lists.ts";
import { readMessage } from "../message.ts";
import { checkWorkflow } from "../workflow/check-workflow.ts";
import { findRun, listRuns, parseRunTarget, resolveRun } from "../workflow/find-run.ts";
import { followRun } from "../workflow/follow-run.ts";
import {
  createNewTagOption,
  createTagOption,
  createVarOption,
  createYesOption,
  type RunFlags,
} from "../workflow/run-flags.ts";
import { formatRunRow, runTitles } from "../workflow/run-table.ts";
import { runWorkflow } from "../workflow/run-workflow.ts";
import { showRun, showWorkflow } from "../workflow/show-workflow.ts";
import { startRun } from "../workflow/start-run.ts";
import { resumeRun, stopRun } from "../workflow/stop-run.ts";
import { parseWorkflowSource } from "../workflow/workflow-source.ts";

const sourceHelp = "workflow file, or the name of a stored workflow";
const runHelp = "run, as @review:pr-1, or a workflow with one open run";
const messageHelp = "in place of the kickoff; reads stdin if -";

export function addWorkflow(program: Command, cli: Cli): void {
  const group = program
    .command("workflow")
    .description("run teams of agents from workflow files")
    .addHelpText(
      "after",
      formatExamples(
        ["workflow run review.yaml --var branch=fix", "run it and print its result"],
        ["workflow start nightly.yaml --tag main", "leave it to the host"],
        ["workflow ls", ""],
        ["workflow follow @nightly:main", ""],
      ),
    );
  addRun(group, cli);
  addStart(group, cli);
  addStop(group, cli);
  addFollow(group, cli);
  addList(group, cli);
  addShow(group, cli);
  addCheck(group, cli);
  addAdd(group, cli);
  addRemove(group, cli);
}

interface StartFlags extends RunFlags {
  resident?: boolean;
}

const readKickoff = async (words: string[]) => (words.length === 0 ? undefined : readMessage(words));

function addRun(group: Command, cli: Cli): void {
  group
    .command("run")
    .description("run a workflow until its agents are done, and print the result")
    .argument("<workflow>", sourceHelp)
    .argument("[message...]", messageHelp)
    .addOption(createNewTagOption())
    .addOption(createVarOption())
    .addOption(createYesOption())
    .addHelpText(
      "after",
      formatExamples(
        ["workflow run review.yaml --tag pr-1 --var branch=fix", ""],
        ["workflow run review", "one that was stored with `workflow add`"],
      ),
    )
    .action(async (text: string, words: string[], flags: RunFlags) =>
      runWorkflow(cli, { ...flags, source: parseWorkflowSource(text), message: await readKickoff(words) }),
    );
}

function addStart(group: Command, cli: Cli): void {
  group
    .command("start")
    .description("start a workflow and return at once, or resume a run that was stopped")
    .argument("<target>", `${sourceHelp}, or a stopped run, as @review:pr-1`)
    .argument("[message...]", messageHelp)
    .addOption(createNewTagOption())
    .addOption(createVarOption())
    .option("--resident", "go on when everyone is idle (default for workflows with a schedule)")
    .addOption(createYesOption())
    .addHelpText(
      "after",
      formatExamples(
        ["workflow start nightly.yaml --tag main", ""],
        ["workflow start @nightly:main", "after `workflow stop @nightly:main`"],
      ),
    )
    .action(async (text: string, words: string[], flags: StartFlags) => {
      if (await isStoppedRun(cli, text, flags.tag)) {
        if (words.length > 0 || flags.var || flags.resident)
          throw fail("bad_request", "A run that was stopped goes on as it was. Pass only its name.");
        return resumeRun(cli, text, flags.tag);
      }
      const { signal } = new AbortController();
      const { run } = await startRun(cli, {
        ...flags,
        source: parseWorkflowSource(text),
        message: await readKickoff(words),
        isResident: flags.resident ?? "if-scheduled",
        signal,
      });
      cli.output.reply(run, () => describeStarted(run));
    });
}

/** Whether a target is a run to resume: it is named as one, or the one with this tag is stopped. */
async function isStoppedRun(cli: Cli, text: string, tag: string | undefined): Promise<boolean> {
  if (text.startsWith("@")) return true;
  if (tag === undefined || parseWorkflowSource(text).kind === "file") return false;
  const run = await findRun((await connect(cli)).client, parseRunTarget(cli, text, tag).agency);
  return run?.status === "stopped";
}

function describeStarted({ agency, resident }: WorkflowRun): string {
  const until = resident ? " It goes on until you stop it." : "";
  return `Started @${agency}.${until}\nFollow it with \`thinkery workflow follow @${agency}\`, stop it with \`thinkery workflow stop @${agency}\`.`;
}

function addStop(group: Command, cli: Cli): void {
  group
    .command("stop")
    .description("stop a run: turns are canceled, messages wait until it is started again")
    .argument("<run>", runHelp)
    .addOption(createTagOption())
    .addHelpText("after", formatExamples(["workflow stop @review:pr-1", ""], ["workflow stop review --tag pr-1", ""]))
    .action((text: string, { tag }: RunFlags) => stopRun(cli, text, tag));
}

const maxEarlierMessages = 20;

function addFollow(group: Command, cli: Cli): void {
  group
    .command("follow")
    .description("follow a run until it ends; Ctrl+C leaves it going")
    .argument("<run>", runHelp)
    .addOption(createTagOption())
    .addHelpText("after", formatExamples(["workflow follow @review:pr-1", ""]))
    .action(async (text: string, { tag }: RunFlags) => {
      const connection = await connect(cli);
      const run = await resolveRun(cli, connection.client, text, tag);
      cli.setExitCode(await followRun(cli, connection, run, { maxEarlierMessages }));
    });
}

interface ListFlags {
  stored?: boolean;
  open?: boolean;
}

function addList(group: Command, cli: Cli): void {
  group
    .command("ls")
    .description("list runs, newest first, or the stored workflows")
    .option("--open", "only runs that are not over")
    .option("--stored", "the workflows that can be run by name")
    .addHelpText("after", formatExamples(["workflow ls", ""], ["workflow ls --stored", ""]))
    .action(async ({ stored, open }: ListFlags) => {
      if (stored && open) throw fail("bad_request", "--open is for runs. Leave out --stored.");
      const { client } = await connect(cli);
      if (!stored) {
        const runs = await listRuns(client, open ? "open" : "all");
        return cli.output.reply({ runs }, () => {
          if (runs.length === 0)
            return `No ${open ? "open " : ""}runs. Start one with \`thinkery run <workflow.yaml>\`.`;
          return cli.output.formatTable(
            runTitles,
            runs.map((run) => formatRunRow(run, Date.now())),
          );
        });
      }
      const workflows = await readAllPages(async (query) => {
        const page = await withRetry((signal) => client.call("listWorkflows", { query, signal }));
        return { items: page.workflows, next: page.next };
      });
      cli.output.reply({ workflows }, () => {
        if (workflows.length === 0) return "No workflows are stored. Add one with `thinkery workflow add <file>`.";
        const rows = workflows.map((one) => [one.name, one.agents.join(", "), one.updatedAt, one.description ?? ""]);
        return cli.output.formatTable(["NAME", "AGENTS", "UPDATED", "DESCRIPTION"], rows);
      });
    });
}

function addShow(group: Command, cli: Cli): void {
  group
    .command("show")
    .description("show a run with its agents, or a stored workflow")
    .argument("<target>", "run, as @review:pr-1, or the name of a stored workflow")
    .addOption(createTagOption())
    .addHelpText("after", formatExamples(["workflow show @review:pr-1", ""], ["workflow show review", "as YAML"]))
    .action(async (text: string, { tag }: RunFlags) => {
      const { client } = await connect(cli);
      const isRun = text.startsWith("@") || text.includes(":") || tag !== undefined;
      if (isRun) return showRun(cli, client, await resolveRun(cli, client, text, tag));
      return showWorkflow(cli, client, text);
    });
}

function addCheck(group: Command, cli: Cli): void {
  group
    .command("check")
    .description("check a workflow file without running anything of it")
    .argument("<file>", "workflow file")
    .addOption(createVarOption())
    .addHelpText("after", formatExamples(["workflow check review.yaml", ""]))
    .action((file: string, flags: RunFlags) => checkWorkflow(cli, file, flags.var ?? []));
}

function addAdd(group: Command, cli: Cli): void {
  group
    .command("add")
    .description("store a workflow, so that it can be run by its name")
    .argument("<file>", "workflow file; the prompts it names are stored with it")
    .addHelpText("after", formatExamples(["workflow add review.yaml", ""]))
    .action(async (file: string) => {
      const { readWorkflow } = await import("../../workflow/read-workflow.ts");
      const values = { env: cli.env, vars: {} };
      const { workflow } = await readWorkflow(file, { cwd: cli.cwd, values, allowsMissing: true });
      const { client } = await connect(cli);
      const params = { workflow: workflow.name };
      const stored = await withRetry((signal) => client.call("putWorkflow", { params, body: workflow, signal }));
      cli.output.reply(stored, () => `Stored ${stored.name}. Run it with \`thinkery workflow run ${stored.name}\`.`);
    });
}

function addRemove(group: Command, cli: Cli): void {
  group
    .command("rm")
    .description("delete a stored workflow; its runs stay")
    .argument("<name>", "name of a stored workflow")
    .option("-y, --yes", "skip confirmation")
    .addHelpText("after", formatExamples(["workflow rm review", ""]))
    .action(async (name: string, { yes }: { yes?: boolean }) => {
      const { client } = await connect(cli);
      if (!yes) await confirm(cli, `Delete the workflow ${name}?`);
      await client.call("deleteWorkflow", { params: { workflow: name } });
      cli.output.reply({ deleted: name }, () => `Deleted ${name}.`);
    });
}
