import type { Approval } from "@thinkery/sdk";
import { useEffect, useState } from "react";
import { getAgentName, getParentPath } from "../api/agent-path.ts";
import { type AgentPlace, loadApproval } from "../api/inbox.ts";
import { Link } from "../frame/link.tsx";
import { buildPath } from "../frame/navigation.ts";
import { DateTime } from "../parts/date-time.tsx";
import { Icon } from "../parts/icon.tsx";
import { Notice } from "../parts/notice.tsx";
import { ApprovalPanel } from "../waits/approval/approval-panel.tsx";
import { describeOutcome, nameTools } from "../waits/approval/describe-approval.ts";
import { showHidden } from "../waits/approval/show-hidden.ts";
import { Expiry } from "../waits/expiry.tsx";
import { QuestionForm } from "../waits/question/question-form.tsx";
import type { ItemChange } from "../waits/use-answer.ts";
import type { InboxItem } from "./inbox-items.ts";

interface InboxEntryProps {
  item: InboxItem;
  onChange(change: ItemChange): void;
}

/** An item of the inbox: who asks for what, and what is needed to answer it; or how it was answered. */
export function InboxEntry({ item, onChange }: InboxEntryProps) {
  const [failure, setFailure] = useState<string>();
  const { place, createdAt, isOpen } = item;
  const handleChange = (change: ItemChange) => {
    setFailure(change.failure);
    onChange(change);
  };
  return (
    <li className="wait inbox-entry" data-open={isOpen} data-kind={item.kind}>
      <header className="wait-head">
        <Icon name={item.kind === "approval" ? "hand" : "question"} />
        <h2>
          <AgentLink {...place} />{" "}
          {item.kind === "approval" ? (
            <>
              wants to use <span className="mono">{showHidden(nameTools(item.approval.calls))}</span>
            </>
          ) : (
            "asks"
          )}
        </h2>
        <p className="wait-times">
          <DateTime at={createdAt} short />
          {isOpen && item.kind === "approval" && (
            <>
              {" · "}
              <Expiry at={item.approval.expiresAt} />
            </>
          )}
        </p>
      </header>
      {!isOpen && <Outcome item={item} />}
      {!isOpen && failure !== undefined && (
        <div role="alert">
          <Notice tone="warn">{failure}</Notice>
        </div>
      )}
      {isOpen && item.kind === "approval" && (
        <WholeApproval place={place} approval={item.approval} onChange={handleChange} />
      )}
      {isOpen && item.kind === "question" && (
        <QuestionForm {...place} question={item.question} onChange={handleChange} />
      )}
    </li>
  );
}

/** The agent as a link to its conversation. */
function AgentLink({ agency, agent }: AgentPlace) {
  const parent = getParentPath(agent);
  return (
    <>
      <Link href={buildPath(agency, agent)}>{getAgentName(agent)}</Link>
      <span className="faint">
        {parent !== undefined && ` of ${getAgentName(parent)}`} in {agency}
      </span>
    </>
  );
}

interface WholeApprovalProps {
  place: AgentPlace;
  approval: Approval;
  onChange(change: ItemChange): void;
}

/** Loads what the list has shortened: nobody should approve what they cannot see. */
function WholeApproval({ place: { agency, agent }, approval, onChange }: WholeApprovalProps) {
  const { id, shortened = false } = approval;
  const [whole, setWhole] = useState<Approval>();
  const [isMissing, setMissing] = useState(false);
  useEffect(() => {
    if (!shortened) return;
    let stale = false;
    void loadApproval({ agency, agent }, id)
      .catch(() => undefined)
      .then((loaded) => {
        if (stale) return;
        setWhole(loaded);
        setMissing(loaded === undefined);
      });
    return () => void (stale = true);
  }, [agency, agent, id, shortened, approval]);
  if (!shortened) return <ApprovalPanel agency={agency} agent={agent} approval={approval} onChange={onChange} />;
  if (whole) return <ApprovalPanel agency={agency} agent={agent} approval={whole} onChange={onChange} />;
  return <p className="faint">{isMissing ? "It cannot be loaded in full. Open the conversation." : "Loading…"}</p>;
}

/** How an item that is gone was answered, as far as its agent knows. */
function Outcome({ item }: { item: InboxItem }) {
  const { agency, agent } = item.place;
  const approval = item.kind === "approval" ? item.approval : undefined;
  const [loaded, setLoaded] = useState<Approval>();
  const isKnown = approval === undefined || approval.status !== "pending";
  useEffect(() => {
    if (isKnown) return;
    let stale = false;
    loadApproval({ agency, agent }, item.id).then(
      (found) => !stale && setLoaded(found),
      // The agent may have been deleted.
      () => {},
    );
    return () => void (stale = true);
  }, [agency, agent, item.id, isKnown]);
  const answered = isKnown ? approval : loaded;
  const text = approval && answered && answered.status !== "pending" ? describeOutcome(answered) : undefined;
  return (
    <p className="outcome" data-outcome={answered?.status}>
      {text === undefined ? (approval ? "No longer waiting" : "Answered, or no longer needed") : showHidden(text)}
    </p>
  );
}
