import type { Agency } from "@thinkery/sdk";
import { reconnectAll } from "../api/follow.ts";
import { useStore } from "../api/store.ts";
import { useTeam } from "../api/team/team.ts";
import { CommandLine } from "../parts/command-line.tsx";
import { Empty } from "../parts/empty.tsx";
import { Notice } from "../parts/notice.tsx";
import "../styles/tasks.css";
import "../styles/board.css";
import { AgentCard } from "./agent-card.tsx";
import { RunHead } from "./run-head.tsx";

/** What the agents of an agency are doing, and the workflow that it is a run of. */
export function BoardView({ agency }: { agency: Agency }) {
  const team = useTeam(agency.id);
  const { agents, run, at } = useStore(team.roster);
  const { state, reason } = useStore(team.link.connection);
  return (
    <article className="view board">
      <header className="view-head">
        <div>
          <p className="kicker">{agency.name}</p>
          <h1>Board</h1>
          <p className="lead">What the agents of this agency are doing right now.</p>
        </div>
      </header>
      {state === "lost" && at !== undefined && (
        <Notice tone="warn" title="Not live at the moment" onRetry={reconnectAll}>
          {reason ?? "The connection was lost."} Showing what was known before.
        </Notice>
      )}
      {state === "refused" && (
        <Notice tone="bad" title="Cannot watch this agency" onRetry={reconnectAll}>
          {reason ?? "The host closed the connection."}
        </Notice>
      )}
      {run && <RunHead agency={agency.id} run={run} />}
      {at === undefined && state !== "refused" && <p className="faint">Connecting…</p>}
      {at !== undefined && (
        <section aria-labelledby="board-agents">
          <div className="section-head">
            <h2 id="board-agents">
              Agents <span className="count">{agents.length}</span>
            </h2>
          </div>
          {agents.length === 0 ? (
            <Empty title="No agents yet">
              <p>
                Agents that you create in this agency, or that a workflow brings along, appear here with what they do.
              </p>
            </Empty>
          ) : (
            <ul className="agent-cards">
              {agents.map((agent) => (
                <AgentCard key={agent.name} team={team} agent={agent} />
              ))}
            </ul>
          )}
        </section>
      )}
      {at !== undefined && !run && <StartWorkflow />}
    </article>
  );
}

function StartWorkflow() {
  return (
    <section aria-labelledby="board-workflow">
      <div className="section-head">
        <h2 id="board-workflow">Start a workflow</h2>
      </div>
      <Empty title="No workflow runs here">
        <p>
          A workflow is a file that describes a team: its agents, what they are for, and the message that starts them.
          Each run gets an agency of its own, and this board then shows how far it is, what it costs and what came out.
        </p>
        <div className="board-commands">
          <CommandLine command="thinkery run review.yaml --tag pr-7" />
          <CommandLine command="thinkery workflow start review.yaml" />
        </div>
        <p>The first one follows the run until it ends; the second one lets it go on by itself.</p>
      </Empty>
    </section>
  );
}
