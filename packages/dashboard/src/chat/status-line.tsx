import { duration } from "../parts/duration.ts";
import { Said } from "../parts/said.tsx";
import type { Conversation } from "../talk/conversation.ts";
import type { Line } from "../talk/open-talk.ts";

interface Standing {
  tone: "ok" | "warn" | "bad" | "quiet";
  busy?: boolean;
  text: string;
}

export function StatusLine({ conversation, line }: { conversation: Conversation; line: Line }) {
  const { tone, busy, text } = standing(conversation, line);
  const waiting = conversation.entries.filter(({ stage }) => stage === "waiting").length;
  return (
    <p className="status-line" data-tone={tone} data-status={conversation.status}>
      <span className="dot" data-tone={tone} data-busy={busy || undefined} />
      <span>
        <Said text={text} />
        {waiting > 0 && <span className="faint"> {waiting === 1 ? "One message waits." : `${waiting} messages wait.`}</span>}
      </span>
    </p>
  );
}

function standing({ status, retry, run, entries }: Conversation, line: Line): Standing {
  if (line.state === "refused") return { tone: "bad", text: line.reason };
  if (line.state === "connecting") return { tone: "quiet", busy: true, text: "Connecting…" };
  if (line.state === "lost") {
    return { tone: "warn", busy: true, text: "The connection is lost; trying again. The agent goes on without us." };
  }
  if (retry) {
    const soon = retry.inMs < 1000 ? "now" : `in ${duration(retry.inMs / 1000)}`;
    return { tone: "warn", busy: true, text: `${sentence(retry.error)} Trying again ${soon} (attempt ${retry.attempt + 1}).` };
  }
  if (status === "executing") {
    const calls = entries.flatMap((entry) => (entry.runId === run ? entry.calls : []));
    const names = [...new Set(calls.filter((call) => !call.result && !call.abandoned).map(({ name }) => name))];
    return { tone: "ok", busy: true, text: names.length > 0 ? `Using ${names.join(", ")}…` : "Using a tool…" };
  }
  if (status === "thinking") return { tone: "ok", busy: true, text: "Thinking…" };
  if (status === "waiting") return { tone: "warn", text: "Waiting for an answer." };
  return { tone: "quiet", text: "Idle." };
}

function sentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}
