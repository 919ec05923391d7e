import type { Think } from "@thinkery/sdk/react";
import { useMemo } from "react";
import { getAgentName, getParentPath } from "../api/agent-path.ts";
import { Button } from "../parts/button.tsx";
import { Icon } from "../parts/icon.tsx";
import { ReportNotice } from "../subagents/report-notice.tsx";
import { WaitLine } from "../waits/wait-line.tsx";
import { ActivityView, isVisible } from "./activity-view.tsx";
import { EntryView } from "./entry-view.tsx";
import { buildLines } from "./lines.ts";
import { NoteView, PauseView } from "./note-view.tsx";
import { useStickToEnd } from "./use-stick-to-end.ts";
import { useTurn } from "./use-turn.ts";

interface TranscriptProps {
  /** Name of the agent, or path of a sub-agent. */
  agent: string;
  agency: string;
  blobs: string;
  think: Think;
  /** The turn to show first. */
  turn: string | undefined;
  onEdit(text: string): void;
}

const loadOlderThresholdPx = 240;

export function Transcript({ agent, agency, blobs, think, turn, onEdit }: TranscriptProps) {
  const { messages, notes, older, ready, connection, cancel, unsend } = think;
  const paused = think.state.run.status === "paused" ? think.state.run.runId : undefined;
  const hasActivity = think.activity !== undefined && isVisible(think.activity);
  const lines = useMemo(() => buildLines(messages, notes, paused, hasActivity), [messages, notes, paused, hasActivity]);
  const { scroller, isAtEnd, onScroll, onClick, scrollToEnd } = useStickToEnd(messages);
  useTurn(think, turn, scroller);
  const loadOlder = () => void think.loadOlder();
  const name = getAgentName(agent);
  const parent = getParentPath(agent);
  // The first message of a sub-agent is its assignment.
  const assignment = parent !== undefined && !older ? messages[0]?.id : undefined;
  let waiting = 0;

  return (
    <div className="transcript-frame">
      {/* Streaming text is not announced; complete messages are, by the announcer. */}
      <div
        ref={scroller}
        className="transcript"
        role="log"
        aria-live="off"
        aria-label={`Conversation with ${name}`}
        tabIndex={0}
        onClickCapture={onClick}
        onScroll={(event) => {
          onScroll();
          if (older && event.currentTarget.scrollTop < loadOlderThresholdPx) loadOlder();
        }}
      >
        <div className="transcript-content">
          {older && (
            <Button kind="quiet" onClick={loadOlder}>
              Show older messages
            </Button>
          )}
          {!ready && connection.state !== "refused" && <p className="faint">Loading…</p>}
          {ready && messages.length === 0 && (
            <p className="transcript-empty">No messages yet. Send {name} a message to start.</p>
          )}
          {lines.map((line) => {
            if (line.kind === "note") return <NoteView key={line.id} note={line.note} times={line.times} />;
            if (line.kind === "pause") return <Pause key={line.id} think={think} waitsFor={line.waitsFor} />;
            if (line.kind === "report")
              return <ReportNotice key={line.id} id={line.id} agency={agency} agent={agent} text={line.text} />;
            if (line.kind === "activity")
              return think.activity && <ActivityView key={line.id} activity={think.activity} />;
            const { entry } = line;
            return (
              <EntryView
                key={entry.id}
                entry={entry}
                sender={parent !== undefined && entry.id === assignment ? getAgentName(parent) : "You"}
                agent={agent}
                agency={agency}
                ahead={entry.stage === "waiting" ? waiting++ : 0}
                paused={paused !== undefined && entry.runId === paused}
                offline={connection.state !== "open"}
                blobs={blobs}
                onCancel={cancel}
                onUnsend={unsend}
                onEdit={onEdit}
              />
            );
          })}
        </div>
      </div>
      {!isAtEnd && (
        <button type="button" className="to-end" onClick={scrollToEnd}>
          <Icon name="down" /> Latest
        </button>
      )}
    </div>
  );
}

/** Pauses for a person are shown at their calls. */
const personalReasons: readonly (string | undefined)[] = ["hitl", "input"];

/** What a paused turn waits for: times, webhooks, or results that are reported later. */
function Pause({ think: { state, waits }, waitsFor }: { think: Think; waitsFor: string[] }) {
  const { run, pendingContinuation: pending } = state;
  const continuations = waits.continuations.length > 0 || !pending ? waits.continuations : [pending];
  const quiet = continuations.filter(
    ({ kind, turn }) => turn === run.runId && (kind === "timer" || kind === "webhook"),
  );
  if (quiet.length > 0) return quiet.map((wait) => <WaitLine key={wait.id} wait={wait} />);
  return personalReasons.includes(run.reason) ? null : <PauseView waitsFor={waitsFor} />;
}
