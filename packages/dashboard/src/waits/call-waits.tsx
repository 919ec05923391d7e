import type { Call } from "@thinkery/sdk/react";
import { useState } from "react";
import { Icon } from "../parts/icon.tsx";
import { Notice } from "../parts/notice.tsx";
import { ApprovalPanel } from "./approval/approval-panel.tsx";
import { Expiry } from "./expiry.tsx";
import { QuestionForm } from "./question/question-form.tsx";
import type { ItemChange } from "./use-answer.ts";
import { useWaits } from "./waits-context.ts";

/** What the calls of a message wait for a person to answer. */
export function CallWaits({ calls }: { calls: readonly Pick<Call, "id">[] }) {
  const { agency, agent, waits } = useWaits();
  // It stays when the item it is about is gone.
  const [failure, setFailure] = useState<string>();
  const ids = new Set(calls.map(({ id }) => id));
  const approvals = waits.approvals.filter((approval) => approval.calls.some(({ id }) => ids.has(id)));
  const questions = waits.continuations.filter(
    ({ kind, callId }) => kind === "input" && callId !== undefined && ids.has(callId),
  );
  const onChange = (change: ItemChange) => setFailure(change.failure);
  return (
    <>
      {approvals.map((approval) => (
        <section key={approval.id} className="wait" aria-label="Needs your approval">
          <header className="wait-head">
            <Icon name="hand" />
            <h3>Needs your approval</h3>
            <Expiry at={approval.expiresAt} />
          </header>
          <ApprovalPanel agency={agency} agent={agent} approval={approval} onChange={onChange} />
        </section>
      ))}
      {questions.map((question) => (
        <section key={question.id} className="wait" aria-label="Question for you">
          <header className="wait-head">
            <Icon name="question" />
            <h3>Question for you</h3>
          </header>
          <QuestionForm agency={agency} agent={agent} question={question} onChange={onChange} />
        </section>
      ))}
      {failure !== undefined && approvals.length === 0 && questions.length === 0 && (
        <div role="alert">
          <Notice tone="warn">{failure}</Notice>
        </div>
      )}
    </>
  );
}
