import {
  type AgentTarget,
  createTaskGraph,
  fail,
  getProgress,
  isFinished,
  isThinkeryError,
  type Task,
  type TaskChange,
  taskTypes,
  type TaskType,
} from "@thinkery/sdk";
import { type Client, withRetry } from "@thinkery/sdk/client";
import { findNearest } from "@thinkery/sdk/internal";
import { type Command, Option } from "commander";
import type { Cli } from "../cli.ts";
import { connect } from "../connect.ts";
import { connectToAgent, targetHelp } from "../files/connect-agent.ts";
import { formatExamples } from "../help.ts";
import { mapAgents } from "../lists.ts";
import { getDefaultAgency, parseTarget } from "../target.ts";
import { formatProgress, formatTaskTree } from "../task-tree.ts";

const idHelp = "task id from `task ls`";

export function addTask(program: Command, cli: Cli): void {
  const group = program
    .command("task")
    .description("list, add and end agents' tasks")
    .addHelpText(
      "after",
      formatExamples(
        ["task ls alice", ""],
        ['task add alice "Fix the parser"', ""],
        ["task done alice task-5fa3c1d0", ""],
      ),
    );
  addList(group, cli);
  addAdd(group, cli);
  addEnding(group, cli, "start", "start a task", "in_progress");
  addEnding(group, cli, "done", "complete a task", "complete", "result");
  addEnding(group, cli, "fail", "mark a task as failed", "failed", "error");
  addEnding(group, cli, "cancel", "cancel a task", "cancelled");
}

function addList(group: Command, cli: Cli): void {
  group
    .command("ls")
    .description("show tasks as a tree")
    .argument("[target]", `${targetHelp}; or an agency, as @review (default: open tasks of all agents in @global)`)
    .option("--all", "also show the archive")
    .addHelpText("after", formatExamples(["task ls", ""], ["task ls alice", ""], ["task ls alice --all", ""]))
    .action(async (text: string | undefined, { all }: { all?: boolean }) => {
      const target = text === undefined ? undefined : parseTarget(cli, text);
      if (text !== undefined && target?.kind === "agent") return listOfAgent(cli, text, all ?? false);
      const { client } = await connect(cli);
      const agency = target?.agency ?? getDefaultAgency(cli);
      const found = await mapAgents(client, agency, async ({ name }) => {
        const tasks = await readTasks(client, { kind: "agent", agency, agent: name }, all ?? false);
        return { agent: name, tasks: all ? tasks : keepOpenTrees(tasks) };
      });
      const busy = found.filter(({ tasks }) => tasks.length > 0);
      const tasks = busy.flatMap((one) => one.tasks.map((task) => ({ ...task, agent: one.agent })));
      cli.output.reply({ tasks, progress: getProgress(createTaskGraph(tasks)) }, () => {
        if (busy.length === 0) return `No open tasks in ${agency}.`;
        return busy.map((one) => `${cli.output.bold(one.agent)}\n${formatTree(cli, one.tasks)}`).join("\n\n");
      });
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
    .argument("<target>", targetHelp)
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
      ),
    )
    .action(async (text: string, title: string, flags: AddFlags) => {
      const { agent } = await connectToAgent(cli, text);
      const { type, description, parent, after } = flags;
      const task = await agent.createTask({
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
    .argument("<target>", targetHelp)
    .argument("<id>", idHelp)
    .addHelpText("after", formatExamples([`task ${name} alice task-5fa3c1d0`, ""]));
  if (note) command.option(`--${note} <text>`, note === "result" ? "the result" : "what went wrong");
  command.action(async (text: string, id: string, flags: Partial<Record<"result" | "error", string>>) => {
    const { agent, connection, target } = await connectToAgent(cli, text);
    const about = note === undefined ? undefined : flags[note];
    const change: TaskChange = { status, ...(note && about !== undefined ? { [note]: about } : {}) };
    const task = await agent.updateTask(id, change).catch(async (error: unknown) => {
      throw await suggestTask(connection.client, target, id, error);
    });
    cli.output.reply(task, () => `${task.id} is ${task.status.replace("_", " ")}.`);
  });
}

async function suggestTask(client: Client, target: AgentTarget, id: string, error: unknown): Promise<unknown> {
  if (!isThinkeryError(error) || error.code !== "not_found") return error;
  const tasks = await readTasks(client, target, false);
  const open = tasks.filter(({ status, metadata }) => !isFinished(status) && metadata?.message !== true);
  const suggestion = findNearest(
    id,
    open.map((task) => task.id),
  );
  const hint = suggestion ? `Did you mean ${suggestion}?` : `List them with \`thinkery task ls ${target.agent}\`.`;
  return fail("not_found", `${error.message} ${hint}`, suggestion ? { suggestion } : {});
}

async function readTasks(client: Client, { agency, agent }: AgentTarget, all: boolean): Promise<Task[]> {
  const tasks: Task[] = [];
  for (const archived of all ? [false, true] : [false]) {
    for (let after: string | undefined; ;) {
      const query = { limit: 500, ...(after ? { after } : {}), ...(archived ? { archived: "1" as const } : {}) };
      const page = await withRetry((signal) => client.call("listTasks", { params: { agency, agent }, query, signal }));
      tasks.push(...page.tasks);
      if (page.next === undefined || page.next === after) break;
      after = page.next;
    }
  }
  return tasks;
}

/** Leaves out trees in which everything is finished. */
function keepOpenTrees(tasks: readonly Task[]): Task[] {
  const trees: Task[][] = [];
  // A root is before everything below it.
  for (const task of tasks) {
    if (task.parentId === undefined) trees.push([task]);
    else trees.at(-1)?.push(task);
  }
  return trees.filter((tree) => tree.some(({ status }) => !isFinished(status))).flat();
}

const formatTree = (cli: Cli, tasks: readonly Task[]) => formatTaskTree(tasks, (text) => cli.output.dim(text));
