import {
  createTaskGraph,
  fail,
  getProgress,
  isFinished,
  type Task,
  type TaskChange,
  taskTypes,
  type TaskType,
} from "@thinkery/sdk";
import { type Client } from "@thinkery/sdk/client";
import { type Command, Option } from "commander";
import { explainMissingAgency } from "../agents.ts";
import type { Cli } from "../cli.ts";
import { connect } from "../connect.ts";
import { connectToAgent } from "../files/connect-agent.ts";
import { formatExamples } from "../help.ts";
import { mapAgents } from "../lists.ts";
import { getDefaultAgency, parseTarget } from "../target.ts";
import { connectToTasks, ownerHelp, readSharedTasks, readTasks, toTreeTasks } from "../task-owner.ts";
import { formatProgress, formatTaskTree } from "../task-tree.ts";

const idHelp = "task id from `task ls`";

export function addTask(program: Command, cli: Cli): void {
  const group = program
    .command("task")
    .description("list, add, claim and end tasks of agents, and those that an agency's members share")
    .addHelpText(
      "after",
      formatExamples(
        ["task ls alice", ""],
        ['task add alice "Fix the parser"', ""],
        ["task done alice task-5fa3c1d0", ""],
        ["task ls @review", "the tasks that its members share"],
        ["task claim @review task-5fa3c1d0 --for alice", ""],
      ),
    );
  addList(group, cli);
  addAdd(group, cli);
  addClaim(group, cli);
  addEnding(group, cli, "start", "start a task", "in_progress");
  addEnding(group, cli, "done", "complete a task", "complete", "result");
  addEnding(group, cli, "fail", "mark a task as failed", "failed", "error");
  addEnding(group, cli, "cancel", "cancel a task", "cancelled");
  addEnding(group, cli, "release", "give a claimed task back, so that others can claim it", "pending");
}

function addList(group: Command, cli: Cli): void {
  group
    .command("ls")
    .description("show tasks as a tree")
    .argument("[target]", `${ownerHelp}, and the open tasks of its agents (default: @global)`)
    .option("--all", "also show finished tasks and the archive")
    .addHelpText("after", formatExamples(["task ls", ""], ["task ls alice", ""], ["task ls @review --all", ""]))
    .action(async (text: string | undefined, { all = false }: { all?: boolean }) => {
      const target = parseTarget(cli, text ?? `@${getDefaultAgency(cli)}`);
      if (text !== undefined && target.kind === "agent") return listOfAgent(cli, text, all);
      const { client } = await connect(cli);
      await listOfAgency(cli, client, target.agency, all);
    });
}

/** Lists the tasks that all members share, then those of its agents. */
async function listOfAgency(cli: Cli, client: Client, agency: string, all: boolean): Promise<void> {
  const { tasks, progress } = await readSharedTasks(client, agency).catch(async (error: unknown) => {
    throw await explainMissingAgency(client, agency, error);
  });
  const agents = await mapAgents(client, agency, async ({ name }) => {
    const own = await readTasks(client, { kind: "agent", agency, agent: name }, all);
    return { agent: name, tasks: all ? own : keepOpenTrees(own) };
  });
  const busy = agents.filter((one) => one.tasks.length > 0);
  cli.output.reply({ tasks, progress, agents: busy }, () => {
    const shown = all ? tasks : keepOpenTrees(tasks);
    const sections = [
      ...(shown.length > 0
        ? [
            `${cli.output.bold(`shared in ${agency}`)}\n${formatTree(cli, toTreeTasks(shown))}\n\n${formatProgress(progress)}`,
          ]
        : []),
      ...busy.map((one) => `${cli.output.bold(one.agent)}\n${formatTree(cli, one.tasks)}`),
    ];
    return sections.length === 0 ? `No open tasks in ${agency}.` : sections.join("\n\n");
  });
}

async function listOfAgent(cli: Cli, text: string, all: boolean): Promise<void> {
  const { connection, target } = await connectToAgent(cli, text);
  const tasks = await readTasks(connection.client, target, all);
  const progress = getProgress(createTaskGraph(tasks));
  cli.output.reply({ tasks, progress }, () =>
    tasks.length === 0
      ? `${target.agent} has no tasks. Send it a message, or add one with \`thinkery task add\`.`
      : `${formatTree(cli, tasks)}\n\n${formatProgress(progress)}`,
  );
}

function addAdd(group: Command, cli: Cli): void {
  group
    .command("add")
    .description("add a task")
    .argument("<target>", ownerHelp)
    .argument("<title>", "what is to be done")
    .addOption(new Option("--type <type>", "kind of work").choices([...taskTypes]).default("code"))
    .option("--description <text>", "details")
    .option("--parent <id>", "make it a subtask of this task")
    .option("--after <ids...>", "tasks that must be complete before")
    .addHelpText(
      "after",
      formatExamples(
        ['task add alice "Fix the parser" --type fix', ""],
        ['task add alice "Test it" --type test --after task-5fa3c1d0', ""],
        ['task add @review "Read the diff" --type review', "for any member to claim"],
      ),
    )
    .action(async (text: string, title: string, flags: AddFlags) => {
      const { type, description, parent, after } = flags;
      const owner = await connectToTasks(cli, text);
      const task = await owner.create({
        title,
        type,
        ...(description === undefined ? {} : { description }),
        ...(parent === undefined ? {} : { parentId: parent }),
        ...(after === undefined ? {} : { dependencies: after }),
      });
      cli.output.reply(task, () => `Added ${task.id}${task.status === "blocked" ? ", which is blocked" : ""}.`);
    });
}

interface AddFlags {
  type: TaskType;
  description?: string;
  parent?: string;
  after?: string[];
}

function addClaim(group: Command, cli: Cli): void {
  group
    .command("claim")
    .description("claim a shared task, so that nobody else works on it")
    .argument("<agency>", "agency, as @review")
    .argument("<id>", idHelp)
    .option("--for <agent>", "claim it for this agent, and tell it (default: for you)")
    .addHelpText(
      "after",
      formatExamples(
        ["task claim @review task-5fa3c1d0", ""],
        ["task claim @review task-5fa3c1d0 --for alice", "assigns it to alice"],
      ),
    )
    .action(async (text: string, id: string, { for: agent }: { for?: string }) => {
      const { claim } = await connectToTasks(cli, text);
      if (!claim) throw createOwnTasksError(text);
      const task = await claim(id, agent?.replace(/^@/, ""));
      cli.output.reply(task, () => `${task.id} is claimed by ${task.claimedBy ?? "you"}.`);
    });
}

const createOwnTasksError = (text: string) =>
  fail(
    "bad_request",
    `“${text}” is an agent, and its tasks are its own. Only shared tasks can be claimed; pass an agency, as @review.`,
  );

/** Adds a command that changes the status of a task, with an option for a text about it. */
function addEnding(
  group: Command,
  cli: Cli,
  name: string,
  description: string,
  status: NonNullable<TaskChange["status"]>,
  note?: "result" | "error",
): void {
  const command = group
    .command(name)
    .description(description)
    .argument("<target>", ownerHelp)
    .argument("<id>", idHelp)
    .addHelpText(
      "after",
      formatExamples([`task ${name} alice task-5fa3c1d0`, ""], [`task ${name} @review task-5fa3c1d0`, "a shared task"]),
    );
  if (note) command.option(`--${note} <text>`, note === "result" ? "the result" : "what went wrong");
  command.action(async (text: string, id: string, flags: Partial<Record<"result" | "error", string>>) => {
    const { update, claim } = await connectToTasks(cli, text);
    if (status === "pending" && !claim) throw createOwnTasksError(text);
    const about = note === undefined ? undefined : flags[note];
    // Claiming a shared task starts it.
    const task =
      status === "in_progress" && claim
        ? await claim(id)
        : await update(id, { status, ...(note && about !== undefined ? { [note]: about } : {}) });
    cli.output.reply(task, () => `${task.id} is ${task.status.replace("_", " ")}.`);
  });
}

/** Leaves out trees in which everything is finished. */
function keepOpenTrees<Any extends Pick<Task, "id" | "parentId" | "status">>(tasks: readonly Any[]): Any[] {
  const byId = new Map(tasks.map((task) => [task.id, task]));
  const findRoot = (task: Any): string => {
    const parent = task.parentId === undefined ? undefined : byId.get(task.parentId);
    return parent ? findRoot(parent) : task.id;
  };
  const open = new Set(tasks.filter(({ status }) => !isFinished(status)).map(findRoot));
  return tasks.filter((task) => open.has(findRoot(task)));
}

const formatTree = (cli: Cli, tasks: readonly Task[]) => formatTaskTree(tasks, (text) => cli.output.dim(text));
