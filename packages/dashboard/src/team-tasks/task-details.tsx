import { isFinished, type TeamTask } from "@thinkery/sdk";
import { useState } from "react";
import { call } from "../api/host.ts";
import { useStore } from "../api/store.ts";
import type { Team } from "../api/team/team.ts";
import { showControlChars } from "../chat/blocks.ts";
import { Link } from "../frame/link.tsx";
import { buildPath } from "../frame/navigation.ts";
import { DateTime, useNow } from "../parts/date-time.tsx";
import { formatUntil } from "../parts/duration.ts";

interface TaskDetailsProps {
  task: TeamTask;
  user: string;
  team: Team;
  byId: ReadonlyMap<string, TeamTask>;
  canChange: boolean;
  onChange(work: () => Promise<unknown>, done: string): Promise<unknown>;
  onSubtask(): void;
}

/** What belongs to a shared task besides its title, and what can be done with it. */
export function TaskDetails(props: TaskDetailsProps) {
  const { task, team, byId, canChange } = props;
  const { id, type, status, description, result, error, dependencies, createdAt, createdBy, claimedBy } = task;
  const isOpen = !isFinished(status);
  return (
    <>
      <p className="task-facts">
        {claimedBy !== undefined && (
          <>
            <span className="task-holder">
              {isOpen ? "claimed by " : ""}
              <Holder agency={team.agency} team={team} name={claimedBy} />
            </span>
            {isOpen && task.claimedUntil !== undefined && <ClaimEnd at={task.claimedUntil} />}
            {" · "}
          </>
        )}
        {type} · by {createdBy} <DateTime at={new Date(createdAt).toISOString()} short />
        <span className="mono task-id">{id}</span>
      </p>
      {isOpen && dependencies.length > 0 && (
        <p className="task-facts">
          after{" "}
          {dependencies.map((dependency, index) => (
            <span key={dependency}>
              {index > 0 && ", "}
              {showControlChars(byId.get(dependency)?.title ?? dependency)}
              {byId.get(dependency)?.status === "complete" && " ✓"}
            </span>
          ))}
        </p>
      )}
      {description && <p className="task-text">{showControlChars(description)}</p>}
      {result && <p className="task-text">{showControlChars(result)}</p>}
      {error && <p className="task-text task-error">{showControlChars(error)}</p>}
      {canChange && isOpen && <TaskActions {...props} />}
    </>
  );
}

/** An agent as a link to it, or a person. */
function Holder({ agency, team, name }: { agency: string; team: Team; name: string }) {
  const { agents } = useStore(team.roster);
  if (!agents.some((agent) => agent.name === name)) return <>{showControlChars(name)}</>;
  return <Link href={buildPath(agency, name)}>{name}</Link>;
}

function ClaimEnd({ at }: { at: string }) {
  const now = useNow(10_000);
  return <span title="Unless a turn of it renews the claim"> (ends {formatUntil(Date.parse(at) - now)})</span>;
}

function TaskActions({ task, user, team, byId, onChange, onSubtask }: TaskDetailsProps) {
  const { id, title, status, claimedBy, dependencies } = task;
  const { agents } = useStore(team.roster);
  const [finishing, setFinishing] = useState(false);
  const params = { agency: team.agency, task: id };
  const update = (body: { status: TeamTask["status"]; result?: string }, done: string) =>
    void onChange(() => call("updateTeamTask", { params, body }), `${title} ${done}.`);
  const claim = (agent?: string) =>
    void onChange(
      () => call("claimTeamTask", { params, body: agent === undefined ? {} : { agent } }),
      `${title} claimed${agent === undefined ? "" : ` for ${agent}`}.`,
    );
  const isReady = dependencies.every((dependency) => (byId.get(dependency)?.status ?? "complete") === "complete");
  const isFree = claimedBy === undefined && status === "pending" && isReady;

  if (finishing) {
    return (
      <form
        className="task-finish"
        onSubmit={(event) => {
          event.preventDefault();
          const result = String(new FormData(event.currentTarget).get("result") ?? "").trim();
          setFinishing(false);
          update({ status: "complete", ...(result === "" ? {} : { result }) }, "completed");
        }}
        onKeyDown={(event) => event.key === "Escape" && setFinishing(false)}
      >
        <input
          name="result"
          aria-label={`Result of ${title}`}
          placeholder="Result, optional"
          autoFocus
          autoComplete="off"
        />
        <button type="submit" className="button">
          Complete
        </button>
        <button type="button" className="button" data-kind="quiet" onClick={() => setFinishing(false)}>
          Back
        </button>
      </form>
    );
  }
  return (
    <div className="task-actions">
      {isFree && (
        <button type="button" className="text-button" onClick={() => claim()}>
          Claim
        </button>
      )}
      {isFree && agents.length > 0 && (
        <select aria-label={`Claim ${title} for an agent`} value="" onChange={(event) => claim(event.target.value)}>
          <option value="">For an agent…</option>
          {agents.map(({ name }) => (
            <option key={name}>{name}</option>
          ))}
        </select>
      )}
      <button type="button" className="text-button" onClick={() => setFinishing(true)}>
        Complete
      </button>
      {claimedBy !== undefined && (
        <button
          type="button"
          className="text-button"
          title={claimedBy === user ? undefined : `Takes it from ${claimedBy}`}
          onClick={() => update({ status: "pending" }, "released")}
        >
          Release
        </button>
      )}
      <button type="button" className="text-button" onClick={onSubtask}>
        Add a part
      </button>
      <button type="button" className="text-button" onClick={() => update({ status: "cancelled" }, "cancelled")}>
        Cancel
      </button>
    </div>
  );
}
