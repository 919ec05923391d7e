import { type Task, taskStatuses } from "@thinkery/sdk";
import { TaskTree } from "../../tasks/task-tree.tsx";
import { isEmptyObject, readField, readTextField } from "../call/input.ts";
import { type CardBodyProps, defineCard } from "./define-card.tsx";
import { FileResult } from "./file-result.tsx";

export const card = defineCard<object>({
  name: "task-list",
  tools: ["listTasks"],
  icon: "hourglass",
  parse: (input) => (isEmptyObject(input) ? input : undefined),
  hint: () => "open tasks",
  Body: TaskListBody,
});

/** The tree that the model got, or the text if it is not one. */
function TaskListBody({ call: { result }, blobs }: CardBodyProps<object>) {
  const tasks = result && !result.failed ? parseTasks(result.output) : undefined;
  return tasks === undefined || tasks.length === 0 ? (
    <FileResult result={result} blobs={blobs} />
  ) : (
    <TaskTree tasks={tasks} />
  );
}

function parseTasks(output: string): Task[] | undefined {
  try {
    return flatten((JSON.parse(output) as { tasks?: unknown } | null)?.tasks);
  } catch {
    return undefined;
  }
}

function flatten(nodes: unknown, parentId?: string): Task[] {
  if (!Array.isArray(nodes)) return [];
  return nodes.flatMap((node: unknown) => {
    const [id, title] = [readTextField(node, "taskId"), readTextField(node, "title")];
    const status = taskStatuses.find((one) => one === readTextField(node, "status"));
    if (id === undefined || title === undefined || status === undefined) return [];
    const task: Task = {
      id,
      ...(parentId ? { parentId } : {}),
      type: "code",
      title,
      status,
      dependencies: [],
      createdAt: 0,
    };
    return [task, ...flatten(readField(node, "subtasks"), id)];
  });
}
