import type { Think } from "@thinkery/sdk/react";
import { duration } from "../parts/duration.ts";
import { Said } from "../parts/said.tsx";
import { liveIn } from "./call/outcome.ts";
import { openNames } from "./lines.ts";

interface Standing {
  tone: "ok" | "warn" | "bad" | "quiet";
  busy?: boolean;
  text: string;
}

export function StatusLine({ think }: { think: Think }) {
  const { tone, busy, text } = standing(think);
  const waiting = think.messages.filter(({ stage }) => stage === "waiting").length;
  return (
    <p className="status-line" data-tone={tone} data-status={think.status}>
      <span className="dot" data-tone={tone} data-busy={busy || undefined} />
      <span>
        <Said text={text} />
        {waiting > 0 && <span className="faint"> {waiting === 1 ? "One message waits." : `${waiting} messages wait.`}</span>}
      </span>
    </p>
  );
}

function standing({ connection, status, retry, run, messages }: Think): Standing {
  if (connection.state === "refused") return { tone: "bad", text: connection.reason };
  if (connection.state === "connecting") return { tone: "quiet", busy: true, text: "Connecting…" };
  if (connection.state === "lost") {
    return { tone: "warn", busy: true, text: "The connection is lost; trying again. The agent goes on without us." };
  }
  if (retry) {
    const soon = retry.inMs < 1000 ? "now" : `in ${duration(retry.inMs / 1000)}`;
    return { tone: "warn", busy: true, text: `${sentence(retry.error)} Trying again ${soon} (attempt ${retry.attempt + 1}).` };
  }
  if (status === "executing") {
    const waits = messages.flatMap((entry) => (entry.runId === run ? entry.calls : [])).findLast(({ progress }) => progress !== undefined && liveIn(progress).waits);
    if (waits?.progress !== undefined) return { tone: "ok", busy: true, text: liveIn(waits.progress).waits ?? "" };
    const names = openNames(messages, run);
    return { tone: "ok", busy: true, text: names.length > 0 ? `Using ${names.join(", ")}…` : "Using a tool…" };
  }
  if (status === "thinking") return { tone: "ok", busy: true, text: "Thinking…" };
  if (status === "waiting") {
    const names = openNames(messages, run);
    return { tone: "warn", text: names.length > 0 ? `Waiting for the answer of ${names.join(", ")}.` : "Waiting for an answer." };
  }
  return { tone: "quiet", text: "Idle." };
}

function sentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}
