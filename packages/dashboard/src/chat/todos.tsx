import type { Todo } from "@thinkery/sdk";
import { useState } from "react";

const statusLabels: Record<Todo["status"], string> = {
  pending: "to do",
  in_progress: "in progress",
  completed: "done",
};

/** The agent's to-do list. Initially open if there is room next to the conversation. */
export function Todos({ todos }: { todos: readonly Todo[] }) {
  const [open, setOpen] = useState(() => window.matchMedia("(min-width: 75rem)").matches);
  if (todos.length === 0) return null;
  const done = todos.filter(({ status }) => status === "completed").length;
  return (
    <details className="todos" open={open} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        Todos{" "}
        <span className="count">
          {done} of {todos.length}
        </span>
      </summary>
      <ul>
        {todos.map(({ content, status }, index) => (
          <li key={index} data-status={status}>
            <span className="todo-mark" aria-hidden="true" />
            <span>
              {content}
              <span className="visually-hidden">: {statusLabels[status]}</span>
            </span>
          </li>
        ))}
      </ul>
    </details>
  );
}
