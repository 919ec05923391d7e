import type { PendingApproval, RememberScope } from "@thinkery/sdk";
import { type KeyboardEvent, type MouseEvent, useRef, useState } from "react";
import type { AgentPlace } from "../../api/inbox.ts";
import { useHasScope } from "../../api/login.ts";
import { Notice } from "../../parts/notice.tsx";
import { type ItemChange, useAnswer } from "../use-answer.ts";
import {
  buildApproval,
  buildDenial,
  type CallDraft,
  type CallDrafts,
  type DraftIssue,
  listOpenCalls,
  isChanged,
} from "./build-answer.ts";
import { CallReview, startEdit } from "./call-review.tsx";
import { DenyForm } from "./deny-form.tsx";
import { PanelActions } from "./panel-actions.tsx";
import { getPanelAction } from "./panel-keys.ts";
import { RememberChoice } from "./remember-choice.tsx";

interface ApprovalPanelProps extends AgentPlace {
  approval: PendingApproval;
  /** Called when it was answered, here or elsewhere. */
  onChange?(change: ItemChange): void;
}

/**
 * Calls that wait for a person's approval, with everything needed to decide: all at once or one by one, as they are,
 * with other inputs, or with a result in the tool's place.
 */
export function ApprovalPanel({ agency, agent, approval, onChange }: ApprovalPanelProps) {
  const canApprove = useHasScope("approve", agency);
  const [drafts, setDrafts] = useState<CallDrafts>({});
  const [issue, setIssue] = useState<DraftIssue>();
  const [remember, setRemember] = useState<RememberScope>("once");
  /** The call whose denial needs a reason, or all of them. */
  const [denied, setDenied] = useState<{ callId?: string }>();
  const panel = useRef<HTMLDivElement>(null);
  const { busy, failure, send } = useAnswer({ agency, agent }, (change) => onChange?.(change));
  const open = listOpenCalls(approval);
  const nextEdit = open.find(({ id }) => !Object.hasOwn(drafts, id));

  const focus = (selector: string) =>
    // The element exists after the next render.
    requestAnimationFrame(() => panel.current?.querySelector<HTMLElement>(selector)?.focus());
  const setDraft = (callId: string, draft: CallDraft | undefined) => {
    const { [callId]: _, ...rest } = drafts;
    const isNew = draft !== undefined && !Object.hasOwn(drafts, callId);
    setDrafts(draft ? { ...rest, [callId]: draft } : rest);
    setIssue(undefined);
    if (isNew) focus(`[data-call="${CSS.escape(callId)}"] :is(input, textarea)`);
    if (!draft) panel.current?.focus();
  };
  const approve = async (callId?: string) => {
    if (busy) return;
    const body = buildApproval(approval, drafts, remember, callId);
    if ("issue" in body) {
      setIssue(body);
      return void focus("[aria-invalid]");
    }
    setIssue(undefined);
    await send(body);
  };
  const deny = async (reason: string) => {
    if (await send(buildDenial(approval, reason, denied?.callId))) setDenied(undefined);
  };
  const startDenial = (callId?: string) => {
    setDenied(callId === undefined ? {} : { callId });
    focus(".deny-form textarea");
  };
  const edit = () => {
    if (nextEdit) setDraft(nextEdit.id, startEdit(nextEdit));
  };

  const onKeyDown = (event: KeyboardEvent) => {
    // Escape would otherwise cancel the turn.
    if (event.key === "Escape" && (denied || Object.keys(drafts).length > 0)) {
      event.preventDefault();
      if (denied) setDenied(undefined);
      else setDrafts({});
      return panel.current?.focus();
    }
    const action = canApprove ? getPanelAction(event) : undefined;
    if (!action || busy) return;
    event.preventDefault();
    if (action === "approve") void approve();
    else if (action === "deny") startDenial();
    else edit();
  };

  return (
    <div
      ref={panel}
      className="approval"
      role="group"
      aria-label={`Approval of ${open.map(({ name }) => name).join(", ")}`}
      aria-keyshortcuts={canApprove ? "y n e" : undefined}
      data-approval={approval.id}
      tabIndex={0}
      onKeyDown={onKeyDown}
      onClickCapture={ignoreSecondClick}
    >
      {approval.calls.map((call) => (
        <CallReview
          key={call.id}
          call={call}
          draft={drafts[call.id]}
          issue={issue?.callId === call.id ? issue : undefined}
          isNamed={approval.calls.length === 1}
          hasEditKey={call.id === nextEdit?.id}
          onDraft={canApprove ? (draft) => setDraft(call.id, draft) : undefined}
          single={
            open.length > 1
              ? { busy, onApprove: () => void approve(call.id), onDeny: () => startDenial(call.id) }
              : undefined
          }
        />
      ))}
      <div role="alert">{failure && <Notice tone="bad">{failure}</Notice>}</div>
      {!canApprove ? (
        <p className="faint">Your login can see this but not decide it: that takes the scope approve.</p>
      ) : denied ? (
        <DenyForm
          what={open.find(({ id }) => id === denied.callId)?.name}
          busy={busy}
          onDeny={(reason) => void deny(reason)}
          onCancel={() => {
            setDenied(undefined);
            panel.current?.focus();
          }}
        />
      ) : (
        <>
          <RememberChoice
            agency={agency}
            agent={agent}
            calls={open}
            isChanged={(call) => isChanged(call, drafts[call.id])}
            value={remember}
            onChange={setRemember}
          />
          <PanelActions
            count={open.length}
            change={describeChange(open, drafts)}
            busy={busy}
            onApprove={() => void approve()}
            onDeny={() => startDenial()}
          />
        </>
      )}
    </div>
  );
}

/** When an item goes away, the next one moves under the pointer: a double click must not decide it. */
function ignoreSecondClick(event: MouseEvent): void {
  const isButton = (event.target as HTMLElement).closest(".approval-actions, .asked-single");
  if (isButton && event.detail > 1) event.stopPropagation();
}

/** What approving all calls would do other than approve them as they are. */
function describeChange(open: readonly { id: string }[], drafts: CallDrafts): "changes" | "results" | undefined {
  const kinds = open.map(({ id }) => drafts[id]?.kind);
  if (kinds.every((kind) => kind === undefined)) return undefined;
  return kinds.every((kind) => kind === "result") ? "results" : "changes";
}
