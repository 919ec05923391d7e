import type { AskedCall } from "@thinkery/sdk";
import { useId } from "react";
import { Button } from "../../parts/button.tsx";
import { MessageText } from "../../parts/message-text.tsx";
import type { CallDraft, DraftIssue } from "./build-answer.ts";
import { CallPreviewView } from "./call-preview.tsx";
import { describeDecision } from "./describe-approval.ts";
import { createInputDraft } from "./edit-input.ts";
import { InputEditor } from "./input-editor.tsx";
import { Key } from "./panel-actions.tsx";
import { showHidden } from "./show-hidden.ts";

interface CallReviewProps {
  call: AskedCall;
  draft: CallDraft | undefined;
  issue: DraftIssue | undefined;
  /** Whether what is around it already names the tool. */
  isNamed: boolean;
  /** Whether the key for editing is about this call. */
  hasEditKey: boolean;
  /** Undefined if the person may not decide. */
  onDraft: ((draft: CallDraft | undefined) => void) | undefined;
  /** Set if there are other open calls, so that this one can be decided alone. */
  single: { busy: boolean; onApprove(): void; onDeny(): void } | undefined;
}

/** A call that needs approval: what it would do, why it is asked about, and how it was decided. */
export function CallReview({ call, draft, issue, isNamed, hasEditKey, onDraft, single }: CallReviewProps) {
  const { name, why, decision } = call;
  const heading = useId();
  return (
    <section className="asked-call" aria-labelledby={heading} data-call={call.id} data-decided={decision?.approved}>
      <header className="asked-head">
        <h4 className={isNamed ? "visually-hidden" : "mono"} id={heading}>
          {showHidden(name)}
        </h4>
        {decision ? (
          <span className="asked-decision">{showHidden(describeDecision(decision))}</span>
        ) : (
          <span className="asked-why">
            <MessageText text={showHidden(why)} />
          </span>
        )}
      </header>
      {!decision && (
        <div className="asked-body">
          {draft ? <Draft draft={draft} issue={issue} onDraft={onDraft} /> : <CallPreviewView call={call} />}
          {onDraft && (
            <p className="asked-choices">
              {draft ? (
                <button type="button" className="text-button" onClick={() => onDraft(undefined)}>
                  {draft.kind === "edit" ? "Discard changes" : "Run the tool instead"}
                </button>
              ) : (
                <>
                  <button
                    type="button"
                    className="text-button"
                    data-action="edit"
                    onClick={() => onDraft(startEdit(call))}
                  >
                    Edit input
                  </button>
                  {hasEditKey && <Key name="e" />}
                  <button type="button" className="text-button" onClick={() => onDraft({ kind: "result", text: "" })}>
                    Answer in its place
                  </button>
                </>
              )}
              {single && (
                <span className="asked-single">
                  <Button disabled={single.busy} onClick={single.onApprove}>
                    Approve this
                  </Button>
                  <Button kind="quiet" disabled={single.busy} onClick={single.onDeny}>
                    Deny this
                  </Button>
                </span>
              )}
            </p>
          )}
        </div>
      )}
    </section>
  );
}

export const startEdit = ({ args }: AskedCall): CallDraft => ({ kind: "edit", input: createInputDraft(args) });

interface DraftProps {
  draft: CallDraft;
  issue: DraftIssue | undefined;
  onDraft: ((draft: CallDraft) => void) | undefined;
}

function Draft({ draft, issue, onDraft }: DraftProps) {
  const id = useId();
  if (draft.kind === "edit") {
    return <InputEditor draft={draft.input} issue={issue} onChange={(input) => onDraft?.({ kind: "edit", input })} />;
  }
  return (
    <div className="field">
      <label htmlFor={id}>Result</label>
      <textarea
        id={id}
        rows={3}
        value={draft.text}
        aria-describedby={`${id}-hint`}
        onChange={(event) => onDraft?.({ kind: "result", text: event.target.value })}
      />
      <p className="field-hint" id={`${id}-hint`}>
        The tool does not run. The agent gets this text as its result.
      </p>
    </div>
  );
}
