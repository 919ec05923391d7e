import { buildTaskTree, createTaskGraph, type Task, type TaskStatus, type TaskTreeNode } from "@thinkery/sdk";
import type { ReactNode } from "react";
import { showControlChars } from "../chat/blocks.ts";

const statusLabels: Record<TaskStatus, string> = {
  pending: "pending",
  in_progress: "in progress",
  blocked: "blocked",
  complete: "complete",
  failed: "failed",
  cancelled: "cancelled",
};

interface TaskTreeProps {
  tasks: readonly Task[];
  /** Shows what belongs to a task in addition to its title. */
  renderDetails?(task: Task): ReactNode;
}

/** Tasks with their subtasks below them. */
export function TaskTree({ tasks, renderDetails }: TaskTreeProps) {
  return <TaskList nodes={buildTaskTree(createTaskGraph(tasks))} renderDetails={renderDetails} />;
}

function TaskList({ nodes, renderDetails }: { nodes: TaskTreeNode[]; renderDetails: TaskTreeProps["renderDetails"] }) {
  return (
    <ul className="task-list">
      {nodes.map(({ task, children }) => (
        <li key={task.id} data-status={task.status} data-task={task.id}>
          <span className="todo-mark" aria-hidden="true" />
          <div className="task-body">
            <span className="task-title">{showControlChars(task.title)}</span>{" "}
            <span className="task-status">{statusLabels[task.status]}</span>
            {renderDetails?.(task)}
          </div>
          {children.length > 0 && <TaskList nodes={children} renderDetails={renderDetails} />}
        </li>
      ))}
    </ul>
  );
}
