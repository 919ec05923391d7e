import { isFinished, type Task, type TaskChange, type TaskProgress } from "@thinkery/sdk";
import type { Think } from "@thinkery/sdk/react";
import { type FormEvent, useEffect, useMemo, useState } from "react";
import { call } from "../api/host.ts";
import { useHasScope } from "../api/login.ts";
import { createSource, useSource } from "../api/source.ts";
import { showControlChars } from "../chat/blocks.ts";
import { Link } from "../frame/link.tsx";
import { buildPath } from "../frame/navigation.ts";
import { Button } from "../parts/button.tsx";
import { DateTime } from "../parts/date-time.tsx";
import { Empty } from "../parts/empty.tsx";
import { Notice } from "../parts/notice.tsx";
import { useChange } from "../parts/use-change.tsx";
import "../styles/tasks.css";
import { TaskTree } from "./task-tree.tsx";

interface TasksViewProps {
  agency: string;
  agent: string;
  think: Think;
}

/** All tasks of an agent: those of its messages, and those that were added. */
export function TasksView({ agency, agent, think }: TasksViewProps) {
  const [archived, setArchived] = useState(false);
  const [limit, setLimit] = useState(50);
  const canChat = useHasScope("chat", agency);
  const params = { agency, agent };
  const source = useMemo(
    () =>
      createSource(() =>
        call("listTasks", { params: { agency, agent }, query: { limit, ...(archived ? { archived: "1" } : {}) } }),
      ),
    [agency, agent, archived, limit],
  );
  const { value, error } = useSource(source);
  // Turns are tasks too.
  useEffect(() => void source.reload(), [source, think.tasks, think.run, think.turnCount, think.queued]);

  const { change, failureNotice } = useChange(() => source.reload());
  const update = (id: string, body: TaskChange) =>
    change(() => call("updateTask", { params: { ...params, task: id }, body }));

  return (
    <section className="tasks" aria-label="Tasks">
      {value && <Progress progress={value.progress} />}
      <div className="tasks-bar">
        {canChat && !archived && (
          <AddTask onAdd={(title) => change(() => call("createTask", { params, body: { title } }))} />
        )}
        <Button kind="quiet" aria-pressed={archived} onClick={() => setArchived(!archived)}>
          Archive
        </Button>
      </div>
      {failureNotice}
      {error && (
        <Notice tone={value ? "warn" : "bad"} title="Failed to load the tasks" onRetry={() => void source.reload()}>
          {error.message}
        </Notice>
      )}
      {!value && !error && <p className="faint">Loading…</p>}
      {value?.tasks.length === 0 && (
        <Empty title={archived ? "The archive is empty" : "No tasks yet"}>
          {archived
            ? "Finished work ends up here after a while."
            : "Every message is a task, and the agent can add steps."}
        </Empty>
      )}
      {value && value.tasks.length > 0 && (
        <TaskTree
          tasks={value.tasks}
          renderDetails={(task) => (
            <Details agency={agency} agent={agent} task={task} onChange={canChat ? update : undefined} />
          )}
        />
      )}
      {value?.next !== undefined && <Button onClick={() => setLimit(Math.min(limit * 2, 500))}>Show more</Button>}
    </section>
  );
}

function Progress({ progress }: { progress: TaskProgress }) {
  const { total, complete, inProgress, blocked, failed, percentComplete } = progress;
  if (total === 0) return null;
  const rest = Object.entries({ "in progress": inProgress, blocked, failed }).filter(([, count]) => count > 0);
  const text = [`${complete} of ${total} complete`, ...rest.map(([name, count]) => `${count} ${name}`)].join(", ");
  return (
    <div className="tasks-progress">
      <progress max={100} value={percentComplete} aria-label="Progress" />
      <span>{text}</span>
    </div>
  );
}

interface DetailsProps {
  agency: string;
  agent: string;
  task: Task;
  onChange: ((id: string, change: TaskChange) => Promise<boolean>) | undefined;
}

function Details({ agency, agent, task, onChange }: DetailsProps) {
  const { id, type, status, description, result, error, assignedTo, dependencies, createdAt, metadata } = task;
  const isMessage = metadata?.message === true;
  const isOpen = !isFinished(status);
  return (
    <>
      <p className="task-facts">
        {isMessage ? "message" : type} · <DateTime at={new Date(createdAt).toISOString()} short />
        {assignedTo && (
          <>
            {" · "}
            <Link href={buildPath(agency, `${agent}/${assignedTo}`)}>{assignedTo}</Link>
          </>
        )}
        {isOpen && dependencies.length > 0 && ` · after ${dependencies.join(", ")}`}
        {!isMessage && <span className="mono task-id">{id}</span>}
      </p>
      {description && <p className="task-text">{showControlChars(description)}</p>}
      {result && !isMessage && <p className="task-text">{showControlChars(result)}</p>}
      {error && <p className="task-text task-error">{showControlChars(error)}</p>}
      {onChange && isOpen && !isMessage && assignedTo === undefined && (
        <p className="task-actions">
          <button type="button" className="text-button" onClick={() => void onChange(id, { status: "complete" })}>
            Complete
          </button>
          <button type="button" className="text-button" onClick={() => void onChange(id, { status: "cancelled" })}>
            Cancel
          </button>
        </p>
      )}
    </>
  );
}

function AddTask({ onAdd }: { onAdd(title: string): Promise<boolean> }) {
  const [title, setTitle] = useState("");
  const [busy, setBusy] = useState(false);
  async function submit(event: FormEvent): Promise<void> {
    event.preventDefault();
    if (title.trim() === "") return;
    setBusy(true);
    if (await onAdd(title)) setTitle("");
    setBusy(false);
  }
  return (
    <form className="tasks-add" onSubmit={(event) => void submit(event)}>
      <input
        aria-label="New task"
        placeholder="New task"
        maxLength={200}
        value={title}
        onChange={(event) => setTitle(event.target.value)}
      />
      <Button type="submit" busy={busy} disabled={title.trim() === ""}>
        Add
      </Button>
    </form>
  );
}
