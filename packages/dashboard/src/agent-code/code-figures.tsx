import type { AgentCodeInfo } from "@thinkery/sdk";
import { formatElapsed } from "../chat/call/outcome.ts";
import { formatBytes, formatCount, formatNumber, formatPercent, formatTokens } from "../parts/amount.ts";
import { Figure } from "../parts/figure.tsx";
import { Meter } from "../parts/meter.tsx";
import { Notice } from "../parts/notice.tsx";

/** What an agent's code has used. */
export function CodeFigures({ code }: { code: AgentCodeInfo }) {
  const { requests, state, storage, process, isApart } = code;
  const { total, failed, ms, longestMs, hostCalls, modelCalls } = requests;
  return (
    <section aria-labelledby="code-usage">
      <div className="section-head">
        <h2 id="code-usage">Usage</h2>
      </div>
      <dl className="figures">
        <Figure name="Requests" value={formatNumber(total)}>
          {failed > 0 ? <span className="bad-text">{formatNumber(failed)} failed</span> : "none failed"}
        </Figure>
        <Figure name="Average time" value={total > 0 ? formatElapsed(ms / total) : "–"}>
          {total > 0 ? `longest ${formatElapsed(longestMs)}` : "no request yet"}
        </Figure>
        <Figure name="Host calls" value={formatNumber(hostCalls)}>
          including {formatCount(modelCalls, "model call")}
        </Figure>
        <Figure name="Memory" value={process?.memoryBytes === undefined ? "–" : formatBytes(process.memoryBytes)}>
          {describeProcess(process, isApart)}
        </Figure>
      </dl>
      <div className="code-meters">
        <UsageMeter
          name="State"
          details={formatCount(state.keys, "key")}
          text={`${formatBytes(state.bytes)} of ${formatBytes(state.maxBytes)}`}
          used={state.bytes}
          limit={state.maxBytes}
        />
        <UsageMeter
          name="Storage"
          details={formatCount(storage.entries, "entry", "entries")}
          text={`${formatTokens(storage.chars)} of ${formatTokens(storage.maxChars)} characters`}
          used={storage.chars}
          limit={storage.maxChars}
        />
      </div>
      {isApart && (
        <Notice tone="warn" title="Runs in a process of its own">
          It ended a process that it shared with other agents, so now it runs apart from them.
        </Notice>
      )}
    </section>
  );
}

function describeProcess(process: AgentCodeInfo["process"], isApart: boolean): string {
  if (!process) return "its process is not running";
  if (isApart) return "of its own process";
  return process.agents > 1
    ? `of a process that ${process.agents} agents share`
    : "of its process, which no other agent uses now";
}

interface UsageMeterProps {
  name: string;
  details: string;
  text: string;
  used: number;
  limit: number;
}

function UsageMeter({ name, details, text, used, limit }: UsageMeterProps) {
  const percent = formatPercent(used, limit);
  return (
    <div className="code-meter">
      <p className="code-meter-head">
        <span>
          {name} <span className="faint">{details}</span>
        </span>
        <span>{percent}</span>
      </p>
      <Meter label={name} valueText={`${percent}: ${text}`} share={used / limit} />
      <p className="faint">{text}</p>
    </div>
  );
}
