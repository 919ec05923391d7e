import { type AgentLogLine, type LogLevel, logLevels } from "@thinkery/sdk";
import { Fragment, memo, useLayoutEffect, useMemo, useRef, useState } from "react";
import { useSource } from "../api/source.ts";
import { sanitizeText } from "../chat/call/sanitize-text.ts";
import { formatCount } from "../parts/amount.ts";
import { CopyButton } from "../parts/copy-button.tsx";
import { formatClock } from "../parts/date-time.tsx";
import { Icon } from "../parts/icon.tsx";
import { Notice } from "../parts/notice.tsx";
import { Switch } from "../parts/switch.tsx";
import { countNewer, formatLines } from "./log-buffer.ts";
import { createLogSource } from "./log-source.ts";

interface LogPaneProps {
  agency: string;
  agent: string;
}

type LevelFilter = LogLevel | "all";

const levelLabels: Record<LevelFilter, string> = { all: "All", info: "Info", warn: "Warnings", error: "Errors" };
const filters = (["all", ...logLevels] as const).map((level) => [level, levelLabels[level]] as const);

const noLines: readonly AgentLogLine[] = [];
/** Maximum distance from the end at which the log follows what comes. */
const followThresholdPx = 24;

/** What an agent's code logs, live. Scrolling up pauses it. */
export function LogPane({ agency, agent }: LogPaneProps) {
  const [filter, setFilter] = useState<LevelFilter>("all");
  const source = useMemo(
    () => createLogSource({ agency, agent }, filter === "all" ? undefined : filter),
    [agency, agent, filter],
  );
  const { value, error } = useSource(source);
  // The lines that are shown while it is paused.
  const [paused, setPaused] = useState<readonly AgentLogLine[]>();
  const scroller = useRef<HTMLDivElement>(null);
  const lines = value?.lines ?? noLines;
  const shown = paused ?? lines;
  const newer = paused ? countNewer(lines, paused) : 0;

  useLayoutEffect(() => {
    if (!paused && scroller.current) scroller.current.scrollTop = scroller.current.scrollHeight;
  }, [lines, paused]);

  return (
    <section aria-labelledby="log">
      <div className="section-head log-head">
        <h2 id="log">Log</h2>
        <Switch
          label="Level"
          options={filters}
          value={filter}
          onChange={(level) => {
            setFilter(level);
            setPaused(undefined);
          }}
        />
        <CopyButton text={() => formatLines(shown)} label="Copy the log" disabled={shown.length === 0} />
      </div>
      {error && (
        <Notice tone="warn" title="Failed to load the log" onRetry={() => void source.reload()}>
          {error.message}
        </Notice>
      )}
      <div className="log-frame">
        {/* Lines are not announced: an agent may log many per second. */}
        <div
          ref={scroller}
          className="log"
          role="log"
          aria-live="off"
          aria-labelledby="log"
          tabIndex={0}
          dir="ltr"
          onScroll={({ currentTarget: { scrollHeight, scrollTop, clientHeight } }) => {
            if (scrollHeight - scrollTop - clientHeight < followThresholdPx) setPaused(undefined);
            else setPaused((before) => before ?? lines);
          }}
        >
          {shown.length > 0 ? <LogLines lines={shown} /> : value && <p className="faint">{describeEmpty(filter)}</p>}
        </div>
        {paused && (
          <button type="button" className="to-end" onClick={() => setPaused(undefined)}>
            <Icon name="down" /> {newer > 0 ? formatCount(newer, "new line") : "Paused"}
          </button>
        )}
      </div>
    </section>
  );
}

function describeEmpty(filter: LevelFilter): string {
  return filter === "all"
    ? "Nothing yet. What its code passes to ctx.log appears here, and so do its errors."
    : "Nothing of this level.";
}

// Memoized, because the log is read again every second.
const LogLines = memo(function LogLines({ lines }: { lines: readonly AgentLogLine[] }) {
  return (
    <ol className="log-lines">
      {lines.map((line, index) => (
        <Fragment key={line.seq}>
          {line.version !== lines[index - 1]?.version && <li className="log-version">Version {line.version}</li>}
          <LogLine line={line} />
        </Fragment>
      ))}
    </ol>
  );
});

const LogLine = memo(function LogLine({ line: { at, level, text } }: { line: AgentLogLine }) {
  return (
    <li data-level={level}>
      <time dateTime={at} title={at}>
        {formatClock(Date.parse(at))}
      </time>
      <span className="log-level">{level}</span>
      <span className="log-text">{sanitizeText(text)}</span>
    </li>
  );
});
