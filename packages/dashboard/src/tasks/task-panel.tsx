import { isFinished, type Task } from "@thinkery/sdk";
import { useState } from "react";
import { Link } from "../frame/link.tsx";
import { TaskTree } from "./task-tree.tsx";

/** The agent's tasks next to the conversation. Initially open if there is room. */
export function TaskPanel({ tasks, href }: { tasks: readonly Task[]; href: string }) {
  const [open, setOpen] = useState(() => window.matchMedia("(min-width: 75rem)").matches);
  if (tasks.length === 0) return null;
  const finished = tasks.filter(({ status }) => isFinished(status)).length;
  return (
    <details className="todos task-panel" open={open} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        Tasks{" "}
        <span className="count">
          {finished} of {tasks.length}
        </span>
      </summary>
      <TaskTree tasks={tasks} />
      <p className="task-panel-more">
        <Link href={href}>All tasks</Link>
      </p>
    </details>
  );
}
