import { type Agency, isFinished, type NewTeamTask, type TeamTask } from "@thinkery/sdk";
import { type ReactNode, useMemo, useState } from "react";
import { call } from "../api/host.ts";
import { useHasScope } from "../api/login.ts";
import { useSource } from "../api/source.ts";
import { useTeam } from "../api/team/team.ts";
import { announce } from "../frame/announce.tsx";
import { formatCount } from "../parts/amount.ts";
import { Button } from "../parts/button.tsx";
import { Empty } from "../parts/empty.tsx";
import { Icon } from "../parts/icon.tsx";
import { Notice } from "../parts/notice.tsx";
import { Switch } from "../parts/switch.tsx";
import { useChange } from "../parts/use-change.tsx";
import { TaskTree } from "../tasks/task-tree.tsx";
import "../styles/tasks.css";
import "../styles/team-tasks.css";
import { keepTrees } from "./keep-trees.ts";
import { NewTeamTaskDialog } from "./new-team-task.tsx";
import { TaskDetails } from "./task-details.tsx";

interface TeamTasksViewProps {
  user: string;
  agency: Agency;
}

/** The tasks that the members of an agency share. */
export function TeamTasksView({ user, agency }: TeamTasksViewProps) {
  const team = useTeam(agency.id);
  const { value, error } = useSource(team.tasks);
  const canChange = useHasScope("chat", agency.id);
  const [shown, setShown] = useState<"open" | "all">("open");
  const [creating, setCreating] = useState<{ parentId?: string }>();
  const params = { agency: agency.id };
  const all = value?.items;
  const tasks = useMemo(() => (all ? (shown === "all" ? all : keepTrees(all, isOpen)) : []), [all, shown]);
  const byId = useMemo(() => new Map(all?.map((task) => [task.id, task])), [all]);

  const { change, failureNotice } = useChange(() => team.tasks.reload());
  const create = async (task: NewTeamTask) => {
    await call("createTeamTask", { params, body: task });
    setCreating(undefined);
    announce(`Task “${task.title}” created.`);
    await team.tasks.reload();
  };

  const newTask = canChange && (
    <Button kind="main" onClick={() => setCreating({})}>
      <Icon name="plus" /> New task
    </Button>
  );
  return (
    <article className="view team-tasks">
      <header className="view-head">
        <div>
          <p className="kicker">{agency.name}</p>
          <h1>Tasks</h1>
          <p className="lead">One list for everyone in this agency. Who claims a task works on it alone.</p>
        </div>
        {all && all.length > 0 && newTask}
      </header>
      {failureNotice}
      {error && (
        <Notice tone={value ? "warn" : "bad"} title="Failed to load the tasks" onRetry={() => void team.tasks.reload()}>
          {error.message}
        </Notice>
      )}
      {!all && !error && <p className="faint">Loading…</p>}
      {all?.length === 0 && <NoTasks action={newTask} />}
      {all && all.length > 0 && (
        <section aria-label="Tasks">
          <div className="team-tasks-bar">
            <Progress tasks={all} />
            <Switch
              label="Show"
              options={[
                ["open", "Open"],
                ["all", "All"],
              ]}
              value={shown}
              onChange={(value) => setShown(value === "all" ? "all" : "open")}
            />
          </div>
          {tasks.length === 0 && <p className="faint">Everything is finished.</p>}
          <TaskTree
            tasks={tasks}
            renderDetails={({ id }) => {
              const task = byId.get(id);
              return (
                task && (
                  <TaskDetails
                    task={task}
                    user={user}
                    team={team}
                    byId={byId}
                    canChange={canChange}
                    onChange={change}
                    onSubtask={() => setCreating({ parentId: id })}
                  />
                )
              );
            }}
          />
          {value?.more && <p className="faint">Showing the first {all.length} tasks.</p>}
        </section>
      )}
      {creating && (
        <NewTeamTaskDialog
          tasks={all ?? []}
          parentId={creating.parentId}
          onCreate={create}
          onClose={() => setCreating(undefined)}
        />
      )}
    </article>
  );
}

const isOpen = ({ status }: TeamTask) => !isFinished(status);

function Progress({ tasks }: { tasks: readonly TeamTask[] }) {
  const count = (status: TeamTask["status"]) => tasks.filter((task) => task.status === status).length;
  const complete = count("complete");
  const rest = { "in progress": count("in_progress"), blocked: count("blocked"), failed: count("failed") };
  const text = [
    `${complete} of ${formatCount(tasks.length, "task")} complete`,
    ...Object.entries(rest).flatMap(([name, number]) => (number > 0 ? [`${number} ${name}`] : [])),
  ].join(", ");
  return (
    <div className="tasks-progress">
      <progress max={tasks.length} value={complete} aria-label="Progress" />
      <span>{text}</span>
    </div>
  );
}

function NoTasks({ action }: { action: ReactNode }) {
  return (
    <Empty title="No tasks yet" action={action}>
      <p>
        Write down what has to be done, in which order, and let people and agents claim it: nobody else can claim a task
        meanwhile. Agents use the tools <code>team_task_create</code>, <code>team_task_claim</code> and{" "}
        <code>team_task_complete</code>. If an agent does nothing for a while, its claim ends.
      </p>
    </Empty>
  );
}
