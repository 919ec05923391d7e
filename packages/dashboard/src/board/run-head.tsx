import type { WorkflowReason, WorkflowRun, WorkflowStatus } from "@thinkery/sdk";
import { useState } from "react";
import { call } from "../api/host.ts";
import { getErrorMessage, useHasScope } from "../api/login.ts";
import { sanitizeText } from "../chat/call/sanitize-text.ts";
import { FormattedText } from "../chat/formatted-text.tsx";
import { announce } from "../frame/announce.tsx";
import { formatCost, formatNumber, formatTokens } from "../parts/amount.ts";
import { Button } from "../parts/button.tsx";
import { DateTime, useNow } from "../parts/date-time.tsx";
import { formatDuration } from "../parts/duration.ts";
import { Figure } from "../parts/figure.tsx";
import { Icon } from "../parts/icon.tsx";
import { Notice } from "../parts/notice.tsx";

const statusWords: Record<WorkflowStatus, string> = {
  running: "Running",
  waiting: "Waits for a person",
  stopped: "Stopped",
  completed: "Completed",
  failed: "Failed",
};

const statusTones: Record<WorkflowStatus, string> = {
  running: "ok",
  waiting: "warn",
  stopped: "quiet",
  completed: "ok",
  failed: "bad",
};

const reasonWords: Record<WorkflowReason, string> = {
  no_progress: "The agents made no progress.",
  turn_limit: "The limit of turns was reached.",
  time_limit: "The time limit was reached.",
  given_up: "A message was given up.",
  agent_failed: "An agent failed.",
  budget: "A budget was used up.",
  setup: "The setup failed.",
};

/** The run of a workflow: how far it is, what it costs, what came out, and ways to stop it and to go on. */
export function RunHead({ agency, run }: { agency: string; run: WorkflowRun }) {
  const { workflow, tag, status, reason, message, kickoff, result, resident, startedBy, startedAt } = run;
  const isOpen = status === "running" || status === "waiting";
  return (
    <section className="run" data-status={status} aria-labelledby="run-title">
      <header className="run-head">
        <div>
          <p className="run-status">
            <span className="dot" data-tone={statusTones[status]} data-busy={status === "running" || undefined} />
            <span role="status">{statusWords[status]}</span>
          </p>
          <h2 id="run-title">
            {sanitizeText(workflow)}
            {tag !== undefined && <span className="faint">:{sanitizeText(tag)}</span>}
          </h2>
          <p className="faint">
            Started by {sanitizeText(startedBy)} <DateTime at={startedAt} short />
            {resident && ", goes on when everyone is idle"}
          </p>
        </div>
        <RunActions agency={agency} status={status} />
      </header>
      {(message ?? reason) !== undefined && (
        <Notice tone={status === "failed" ? "bad" : "warn"} title={reason === undefined ? "" : reasonWords[reason]}>
          {message === undefined ? "" : sanitizeText(message)}
        </Notice>
      )}
      <RunFigures run={run} isOpen={isOpen} />
      {result !== undefined && result.trim() !== "" && (
        <div className="run-text">
          <h3>Result</h3>
          <FormattedText text={result} />
        </div>
      )}
      {kickoff !== undefined && kickoff.trim() !== "" && (
        <details className="run-text">
          <summary>What it was started with</summary>
          <FormattedText text={kickoff} />
        </details>
      )}
    </section>
  );
}

function RunFigures({ run: { turns, usage, startedAt, endedAt }, isOpen }: { run: WorkflowRun; isOpen: boolean }) {
  const now = useNow(1000);
  const end = endedAt === undefined ? now : Date.parse(endedAt);
  const seconds = Math.max(0, end - Date.parse(startedAt)) / 1000;
  const tokens = usage.inputTokens + usage.outputTokens;
  return (
    <dl className="figures">
      <Figure name={isOpen ? "Elapsed" : "Took"} value={formatDuration(seconds)} />
      <Figure name="Turns" value={formatNumber(turns)} />
      <Figure
        name="Tokens"
        value={formatTokens(tokens)}
        title={`${formatNumber(usage.inputTokens)} read, ${formatNumber(usage.outputTokens)} written`}
      />
      <Figure name="Cost" value={usage.costUsd === null ? "unknown" : formatCost(usage.costUsd)} />
    </dl>
  );
}

function RunActions({ agency, status }: { agency: string; status: WorkflowStatus }) {
  const canChange = useHasScope("chat", agency);
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState<string>();
  if (!canChange || status === "completed" || status === "failed") return null;
  const isStopped = status === "stopped";

  const change = async () => {
    setBusy(true);
    setFailure(undefined);
    try {
      await call(isStopped ? "startWorkflowRun" : "stopWorkflowRun", { params: { agency } });
      announce(isStopped ? "The run goes on." : "The run was stopped.");
    } catch (error) {
      setFailure(getErrorMessage(error));
    } finally {
      setBusy(false);
    }
  };

  return (
    <div className="run-actions">
      <Button
        kind={isStopped ? "main" : "plain"}
        busy={busy}
        title={isStopped ? undefined : "Turns are canceled, messages wait. It can go on later."}
        onClick={() => void change()}
      >
        <Icon name={isStopped ? "play" : "stop"} /> {isStopped ? "Resume" : "Stop"}
      </Button>
      {failure !== undefined && (
        <p className="field-error" role="alert">
          {failure}
        </p>
      )}
    </div>
  );
}
