import { Command } from "commander";
import type { Cli } from "./cli.ts";
import { addAgency } from "./commands/agency.ts";
import { addAgent } from "./commands/agent.ts";
import { addAnswer } from "./commands/answer.ts";
import { addApp } from "./commands/app.ts";
import { addApproval } from "./commands/approval.ts";
import { addBlueprint } from "./commands/blueprint.ts";
import { addBranch } from "./commands/branch.ts";
import { addBudget } from "./commands/budget.ts";
import { addCancel } from "./commands/cancel.ts";
import { addChannel } from "./commands/channel.ts";
import { addChat } from "./commands/chat.ts";
import { addClear } from "./commands/clear.ts";
import { addCompletion } from "./commands/completion.ts";
import { addConfig } from "./commands/config.ts";
import { addDoc } from "./commands/doc.ts";
import { addDoctor } from "./commands/doctor.ts";
import { addExport } from "./commands/export.ts";
import { addFeedback } from "./commands/feedback.ts";
import { addFiles } from "./commands/files.ts";
import { addGc } from "./commands/gc.ts";
import { addHook } from "./commands/hook.ts";
import { addHostProcess } from "./commands/host-process.ts";
import { addInbox } from "./commands/inbox.ts";
import { addInfo } from "./commands/info.ts";
import { addLogs } from "./commands/logs.ts";
import { addLs } from "./commands/ls.ts";
import { addMock } from "./commands/mock.ts";
import { addModels } from "./commands/models.ts";
import { addNew } from "./commands/new.ts";
import { addOpen } from "./commands/open.ts";
import { addPeek } from "./commands/peek.ts";
import { addPolicy } from "./commands/policy.ts";
import { addProcess } from "./commands/process.ts";
import { addProviders } from "./commands/providers.ts";
import { addResource } from "./commands/resource.ts";
import { addRevert } from "./commands/revert.ts";
import { addRm } from "./commands/rm.ts";
import { addRun, addServe } from "./commands/run.ts";
import { addSchedule } from "./commands/schedule.ts";
import { addSend } from "./commands/send.ts";
import { addSettings } from "./commands/settings.ts";
import { addRestart, addStart } from "./commands/start.ts";
import { addStats } from "./commands/stats.ts";
import { addStatus } from "./commands/status.ts";
import { addStop } from "./commands/stop.ts";
import { addTask } from "./commands/task.ts";
import { addToken } from "./commands/token.ts";
import { addTool } from "./commands/tool.ts";
import { addUsage } from "./commands/usage.ts";
import { addUser } from "./commands/user.ts";
import { addVersions } from "./commands/versions.ts";
import { addWorkflow } from "./commands/workflow.ts";
import { formatExamples } from "./help.ts";

/** Commander's usage error, stored until `run` reports it like any other error. */
export interface UsageErrors {
  last: string | undefined;
}

const otherGroup = "Other:";

const firstSteps = formatExamples(
  ["start", "start the host and print a login link"],
  ["new alice", "create an agent"],
  ["chat alice", "chat with it"],
  ["doctor", "diagnose problems"],
);

const notes = `Exit codes: 0 success, 1 failure, 2 usage error, 3 no host or access denied, 4 waiting for approval, 5 budget exceeded, 130 interrupted.
Set THINKERY_URL and THINKERY_TOKEN to use a remote host.`;

export function buildProgram(cli: Cli, usageErrors: UsageErrors): Command {
  const program = new Command("thinkery")
    .description("A home for durable AI agents.")
    .version(cli.version ?? "unbuilt", "-V, --version", "print the version")
    .helpOption("-h, --help", "show this help")
    .addHelpCommand(createHelpCommand())
    .option("--json", "print JSON")
    .configureHelp({ showGlobalOptions: true })
    .configureOutput({
      writeOut: (text) => cli.output.writeText(text),
      writeErr: (text) => cli.output.writeMessage(text.trimEnd()),
      outputError: (text) => {
        usageErrors.last = text;
      },
    })
    .exitOverride()
    .addHelpText("after", `${firstSteps}\n\n${notes}`);

  program.commandsGroup("Host:");
  for (const add of [addStart, addStop, addRestart, addStatus, addLogs, addDoctor, addGc, addOpen]) add(program, cli);
  program.commandsGroup("Agents:");
  for (const add of [
    addNew,
    addLs,
    addInfo,
    addSettings,
    addCancel,
    addRm,
    addTask,
    addSchedule,
    addHook,
    addApp,
    addProcess,
    addAgency,
    addBlueprint,
    addTool,
    addWorkflow,
    addAgent,
  ])
    add(program, cli);
  program.commandsGroup("Files:");
  for (const add of [addFiles, addVersions, addRevert, addBranch]) add(program, cli);
  program.commandsGroup("Conversations:");
  for (const add of [addChat, addRun, addServe, addSend, addPeek, addStats, addExport, addClear]) add(program, cli);
  program.commandsGroup("Teams:");
  for (const add of [addChannel, addInbox, addDoc, addResource, addFeedback]) add(program, cli);
  program.commandsGroup("Approvals and questions:");
  for (const add of [addApproval, addAnswer, addPolicy]) add(program, cli);
  program.commandsGroup("Models and costs:");
  for (const add of [addProviders, addModels, addUsage, addBudget, addMock]) add(program, cli);
  program.commandsGroup(otherGroup);
  for (const add of [addToken, addUser, addConfig, addCompletion, addHostProcess]) add(program, cli);
  return program;
}

function createHelpCommand(): Command {
  const help = new Command("help").argument("[command]").description("show help for a command");
  return help.helpOption(false).helpGroup(otherGroup);
}
