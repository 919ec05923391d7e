import type { Agency, TeamAgent, UserMember } from "@thinkery/sdk";
import { useEffect, useMemo, useState } from "react";
import { call } from "../api/host.ts";
import { useHasScope } from "../api/login.ts";
import { readPages } from "../api/pages.ts";
import { createSource, useSource } from "../api/source.ts";
import { useStore } from "../api/store.ts";
import { type Team, useTeam } from "../api/team/team.ts";
import { sanitizeText } from "../chat/call/sanitize-text.ts";
import { Link } from "../frame/link.tsx";
import { buildPath } from "../frame/navigation.ts";
import { Button } from "../parts/button.tsx";
import { DateTime } from "../parts/date-time.tsx";
import { Icon } from "../parts/icon.tsx";
import { Notice } from "../parts/notice.tsx";
import { describeAgentState, statusTones } from "../team/describe-agent.ts";
import { InboxList } from "../team/inbox-list.tsx";
import "../styles/tasks.css";
import "../styles/board.css";
import "../styles/members.css";
import { MemberDialog, RemoveMember } from "./member-dialogs.tsx";

/** Who belongs to an agency: people with what they may do, and agents with what waits for them. */
export function MembersView({ user, agency }: { user: string; agency: Agency }) {
  const team = useTeam(agency.id);
  return (
    <article className="view members">
      <header className="view-head">
        <div>
          <p className="kicker">{agency.name}</p>
          <h1>Members</h1>
          <p className="lead">The people who may use this agency, and its agents.</p>
        </div>
      </header>
      <People user={user} agency={agency} team={team} />
      <Agents team={team} />
    </article>
  );
}

function People({ user, agency, team }: { user: string; agency: Agency; team: Team }) {
  const source = useMemo(
    () =>
      createSource(async () => {
        const { items } = await readPages(async (query) => {
          const { members, next } = await call("listMembers", { params: { agency: agency.id }, query });
          return { items: members, next };
        });
        return items.filter((member) => member.kind === "user");
      }),
    [agency.id],
  );
  const { value, error } = useSource(source);
  const changes = useStore(team.changes).members;
  useEffect(() => void source.reload(), [source, changes]);
  const canChange = useHasScope("admin", agency.id);
  const [dialog, setDialog] = useState<{ kind: "put" | "remove"; member?: UserMember }>();
  const close = () => setDialog(undefined);
  const reload = () => source.reload();

  return (
    <section aria-labelledby="people">
      <div className="section-head">
        <h2 id="people">
          People <span className="count">{value?.length}</span>
        </h2>
        {canChange && (
          <Button kind="main" onClick={() => setDialog({ kind: "put" })}>
            <Icon name="plus" /> Add person
          </Button>
        )}
      </div>
      {error && (
        <Notice tone={value ? "warn" : "bad"} title="Failed to load the people" onRetry={() => void source.reload()}>
          {error.message}
        </Notice>
      )}
      {!value && !error && <p className="faint">Loading…</p>}
      {value && (
        <div className="table-frame">
          <table aria-label="People">
            <thead>
              <tr>
                <th scope="col" className="column-name">
                  Name
                </th>
                <th scope="col">May</th>
                <th scope="col">Since</th>
                {canChange && (
                  <th scope="col">
                    <span className="visually-hidden">Actions</span>
                  </th>
                )}
              </tr>
            </thead>
            <tbody>
              {value.map((member) => (
                <PersonRow
                  key={member.name}
                  member={member}
                  isReader={member.name === user}
                  canChange={canChange}
                  onDialog={(kind) => setDialog({ kind, member })}
                />
              ))}
            </tbody>
          </table>
        </div>
      )}
      {value?.length === 1 && (
        <p className="faint">
          {canChange
            ? "Nobody else may use this agency yet. Add other users of this host, such as the members of your team."
            : "Nobody else may use this agency."}
        </p>
      )}
      {dialog?.kind === "put" && (
        <MemberDialog agency={agency.id} member={dialog.member} onChanged={reload} onClose={close} />
      )}
      {dialog?.kind === "remove" && dialog.member && (
        <RemoveMember agency={agency} name={dialog.member.name} onChanged={reload} onClose={close} />
      )}
    </section>
  );
}

interface PersonRowProps {
  member: UserMember;
  isReader: boolean;
  canChange: boolean;
  onDialog(kind: "put" | "remove"): void;
}

function PersonRow({ member: { name, owner, scopes, addedAt }, isReader, canChange, onDialog }: PersonRowProps) {
  return (
    <tr>
      <th scope="row">
        {name} {isReader && <span className="badge">you</span>} {owner && <span className="badge">owner</span>}
      </th>
      <td data-label="May">{owner ? "everything" : scopes.join(", ")}</td>
      <td data-label="Since">
        <DateTime at={addedAt} short />
      </td>
      {canChange && (
        <td className="member-actions">
          {!owner && (
            <>
              <Button kind="quiet" aria-label={`Change what ${name} may do`} onClick={() => onDialog("put")}>
                Change
              </Button>
              <Button kind="quiet" aria-label={`Remove ${name}`} onClick={() => onDialog("remove")}>
                Remove
              </Button>
            </>
          )}
        </td>
      )}
    </tr>
  );
}

function Agents({ team }: { team: Team }) {
  const { agents, at } = useStore(team.roster);
  return (
    <section aria-labelledby="member-agents">
      <div className="section-head">
        <h2 id="member-agents">
          Agents <span className="count">{at === undefined ? "" : agents.length}</span>
        </h2>
        <Link href={buildPath(team.agency)}>Agents and blueprints</Link>
      </div>
      {at === undefined && <p className="faint">Connecting…</p>}
      {at !== undefined && agents.length === 0 && <p className="faint">There are no agents in this agency yet.</p>}
      <ul className="member-agents">
        {agents.map((agent) => (
          <AgentItem key={agent.name} team={team} agent={agent} />
        ))}
      </ul>
    </section>
  );
}

function AgentItem({ team, agent }: { team: Team; agent: TeamAgent }) {
  const { name, role, status, inbox } = agent;
  const [isOpen, setOpen] = useState(false);
  const open = inbox.pending + inbox.seen + inbox.deferred;
  return (
    <li>
      <details open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary>
          <Icon name="chevron" />
          <span className="dot" data-tone={statusTones[status]} data-busy={status === "working" || undefined} />
          <span className="member-name">{name}</span>
          <span className="faint">{describeAgentState(agent)}</span>
          <span className="member-inbox">
            {inbox.givenUp > 0 && <span className="member-given-up">{inbox.givenUp} given up</span>}
            <span className="faint">{open > 0 ? `${open} to handle` : "inbox empty"}</span>
          </span>
        </summary>
        <div className="member-body">
          {role && <p>{sanitizeText(role)}</p>}
          <p>
            <Link href={buildPath(team.agency, name)}>Conversation</Link>
          </p>
          {/* Loaded when it is opened: there may be many agents. */}
          {isOpen && <InboxList team={team} agent={name} />}
        </div>
      </details>
    </li>
  );
}
