import {
  buildTaskTree,
  createTaskGraph,
  type Task,
  type TaskProgress,
  type TaskStatus,
  type TaskTreeNode,
} from "@thinkery/sdk";
import { sanitize } from "./output.ts";

const markers: Record<TaskStatus, string> = {
  pending: "○",
  in_progress: "●",
  blocked: "◌",
  complete: "✓",
  failed: "✗",
  cancelled: "–",
};

/** Formats tasks as trees, the newest last, so that it is next to the prompt. */
export function formatTaskTree(tasks: readonly Task[], dim: (text: string) => string): string {
  const format = ({ task, children }: TaskTreeNode, lead: string, indent: string): string[] => [
    `${lead}${markers[task.status]} ${clean(task.title)}  ${dim(describe(task))}`,
    ...children.flatMap((child, index) =>
      index === children.length - 1
        ? format(child, `${indent}└─ `, `${indent}   `)
        : format(child, `${indent}├─ `, `${indent}│  `),
    ),
  ];
  return buildTaskTree(createTaskGraph(tasks))
    .toReversed()
    .flatMap((root) => format(root, "", ""))
    .join("\n");
}

/** Formats progress as `2 of 5 complete, 1 in progress, 2 pending`. */
export function formatProgress(progress: TaskProgress): string {
  const { total, complete, inProgress, pending, blocked, failed, cancelled } = progress;
  const parts = Object.entries({ "in progress": inProgress, pending, blocked, failed, cancelled })
    .filter(([, count]) => count > 0)
    .map(([name, count]) => `${count} ${name}`);
  return [`${complete} of ${total} complete`, ...parts].join(", ");
}

function describe({ id, type, status, metadata, dependencies, assignedTo, error }: Task): string {
  return [
    id,
    metadata?.message === true ? "message" : type,
    status.replace("_", " "),
    ...(assignedTo ? [`by ${clean(assignedTo)}`] : []),
    ...(dependencies.length > 0 && status !== "complete" ? [`after ${dependencies.map(clean).join(", ")}`] : []),
    ...(error ? [shorten(clean(error))] : []),
  ].join(" · ");
}

const clean = (text: string) => sanitize(text).replace(/\s+/g, " ");

const shorten = (text: string) => (text.length > 80 ? `${text.slice(0, 79)}…` : text);
