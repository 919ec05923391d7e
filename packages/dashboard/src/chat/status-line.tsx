import type { Think } from "@thinkery/sdk/react";
import { formatCount } from "../parts/amount.ts";
import { formatDuration } from "../parts/duration.ts";
import { MessageText } from "../parts/message-text.tsx";
import { describeWaits } from "../waits/describe-wait.ts";
import { describeAction } from "./activity-view.tsx";
import { showControlChars } from "./blocks.ts";
import { parseProgress } from "./call/outcome.ts";
import { listPendingTools } from "./lines.ts";

interface StatusText {
  tone: "ok" | "warn" | "bad" | "quiet";
  busy?: boolean;
  text: string;
}

export function StatusLine({ think }: { think: Think }) {
  const { tone, busy, text } = describeStatus(think);
  const waiting = think.messages.filter(({ stage }) => stage === "waiting").length;
  return (
    <p className="status-line" data-tone={tone} data-status={think.status}>
      <span className="dot" data-tone={tone} data-busy={busy || undefined} />
      <span>
        <MessageText text={text} />
        {waiting > 0 && <span className="faint"> · {formatCount(waiting, "message")} queued</span>}
      </span>
    </p>
  );
}

function describeStatus({ connection, status, retry, run, messages, waits, state, activity }: Think): StatusText {
  if (connection.state === "refused") return { tone: "bad", text: connection.reason };
  if (connection.state === "connecting") return { tone: "quiet", busy: true, text: "Connecting…" };
  if (connection.state === "lost") {
    return { tone: "warn", busy: true, text: "Connection lost. Reconnecting…" };
  }
  if (retry) {
    const when = retry.inMs < 1000 ? "now" : `in ${formatDuration(retry.inMs / 1000)}`;
    return {
      tone: "warn",
      busy: true,
      text: `${toSentence(retry.error)} Retrying ${when} (attempt ${retry.attempt + 1})`,
    };
  }
  if (activity?.action) return { tone: "ok", busy: true, text: `Running ${describeAction(activity.action).name}…` };
  if (status === "executing") {
    const queuedCall = messages
      .flatMap((entry) => (entry.runId === run ? entry.calls : []))
      .findLast(({ progress }) => progress !== undefined && parseProgress(progress).waiting);
    if (queuedCall?.progress !== undefined)
      return { tone: "ok", busy: true, text: parseProgress(queuedCall.progress).waiting ?? "" };
    const names = listPendingTools(messages, run);
    return { tone: "ok", busy: true, text: names.length > 0 ? `Running ${names.join(", ")}…` : "Running a tool…" };
  }
  if (status === "thinking") return { tone: "ok", busy: true, text: "Thinking…" };
  if (status === "stopped") return { tone: "warn", text: "Stopped" };
  if (status === "waiting") {
    const wait = describeWaits(waits, state.pendingContinuation, Date.now());
    if (wait !== undefined) return { tone: "warn", text: showControlChars(wait) };
    const names = listPendingTools(messages, run);
    return {
      tone: "warn",
      text: names.length > 0 ? `Waiting for ${names.join(", ")}` : "Waiting for a tool result",
    };
  }
  return { tone: "quiet", text: "Idle" };
}

function toSentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}
