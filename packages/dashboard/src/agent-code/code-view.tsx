import type { AgentCodeInfo } from "@thinkery/sdk";
import { type ReactNode, useEffect, useMemo } from "react";
import { createCodeSource } from "../api/agent-code.ts";
import { useSource } from "../api/source.ts";
import { sanitizeText } from "../chat/call/sanitize-text.ts";
import { Link } from "../frame/link.tsx";
import { buildPackagePath } from "../frame/navigation.ts";
import { CapabilityChips } from "../packages/capability-chips.tsx";
import { ToolSummaries } from "../packages/tool-summaries.tsx";
import { DescriptionList } from "../parts/description-list.tsx";
import { Notice } from "../parts/notice.tsx";
import "../styles/packages.css";
import "../styles/agent-code.css";
import { CodeFigures } from "./code-figures.tsx";
import { LastError } from "./last-error.tsx";
import { LogPane } from "./log-pane.tsx";

interface CodeViewProps {
  agency: string;
  /** Name of the agent, or path of a sub-agent. */
  agent: string;
  /** Turns that have ended while the page was open. */
  turnCount: number;
}

/** The code that an agent runs: where it comes from, what it logs, how it failed last, and what it has used. */
export function CodeView({ agency, agent, turnCount }: CodeViewProps) {
  const source = useMemo(() => createCodeSource({ agency, agent }), [agency, agent]);
  const { value, error } = useSource(source);
  useEffect(() => void source.reload(), [source, turnCount]);

  return (
    <article className="view">
      {error && (
        <Notice tone={value ? "warn" : "bad"} title="Failed to load the code" onRetry={() => void source.reload()}>
          {error.message}
        </Notice>
      )}
      {!value && !error && <p className="faint">Loading…</p>}
      {value && (
        <section aria-labelledby="package">
          <div className="section-head">
            <h2 id="package">Package</h2>
          </div>
          <DescriptionList of={listFacts(agency, value)} />
        </section>
      )}
      {value?.lastError && <LastError agency={agency} agent={agent} error={value.lastError} />}
      <LogPane agency={agency} agent={agent} />
      {value && <CodeFigures code={value} />}
      {value && (
        <section aria-labelledby="interface">
          <div className="section-head">
            <h2 id="interface">Interface</h2>
          </div>
          <DescriptionList of={listInterface(value)} />
        </section>
      )}
    </article>
  );
}

type Facts = (readonly [string, ReactNode])[];

function listFacts(agency: string, code: AgentCodeInfo): Facts {
  const { package: name, displayName, version, pinned, capabilities } = code;
  return [
    [
      "Package",
      <>
        <Link href={buildPackagePath(agency, name)}>{sanitizeText(displayName)}</Link>{" "}
        {displayName !== name && <span className="mono faint">{name}</span>}
      </>,
    ],
    [
      "Version",
      <>
        {version}{" "}
        <span className="faint">
          {pinned ? "pinned: its blueprint keeps it at this version" : "follows the package’s current version"}
        </span>
      </>,
    ],
    ["May use", <CapabilityChips capabilities={capabilities} />],
  ];
}

/** What its code handles, and offers to other agents. */
function listInterface(code: AgentCodeInfo): Facts {
  const { tools } = code;
  return [
    ["Handles", describeHandlers(code)],
    ["Tools", tools.length > 0 ? <ToolSummaries tools={tools} /> : <span className="faint">none</span>],
  ];
}

function describeHandlers({ handles, batch, concurrency }: AgentCodeInfo): string {
  const hooks = [
    handles.init && "its start (onInit)",
    handles.shutdown && "its end (onShutdown)",
    handles.event && "events (onEvent)",
  ].filter((hook) => hook !== false);
  const messages = batch
    ? "messages, all that wait at once"
    : concurrency > 1
      ? `messages, up to ${concurrency} at a time`
      : "messages, one at a time";
  return [messages, ...hooks].join("; ");
}
