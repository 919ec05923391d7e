import { buildTaskTree, createTaskGraph, defineTool, getProgress, type TaskTreeNode } from "@thinkery/sdk";
import { z } from "zod";

const maxTextChars = 300;

export const listTasks = defineTool(
  {
    name: "listTasks",
    description: "List open tasks as a tree, with their ids and progress.",
    inputSchema: z.object({}),
    action: "list",
    idempotent: true,
    parallel: true,
    onDemand: "tasks",
    polls: true,
  },
  (_, { tasks }) => {
    const graph = createTaskGraph(tasks.list());
    return { tasks: buildTaskTree(graph).map(describe), progress: getProgress(graph) };
  },
);

interface DescribedTask {
  taskId: string;
  title: string;
  status: string;
  subtasks?: DescribedTask[];
}

function describe({ task, children }: TaskTreeNode): DescribedTask {
  const { id, type, title, description, status, dependencies, result, error, assignedTo } = task;
  return {
    taskId: id,
    type,
    title,
    status,
    ...(description ? { description: shorten(description) } : {}),
    ...(dependencies.length > 0 ? { dependencies } : {}),
    ...(assignedTo ? { assignedTo } : {}),
    ...(result ? { result: shorten(result) } : {}),
    ...(error ? { error: shorten(error) } : {}),
    ...(children.length > 0 ? { subtasks: children.map(describe) } : {}),
  } as DescribedTask;
}

const shorten = (text: string) => (text.length > maxTextChars ? `${text.slice(0, maxTextChars)}…` : text);
