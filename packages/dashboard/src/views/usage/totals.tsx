import type { ReactNode } from "react";
import type { Usage } from "../../api/usage.ts";
import { formatNumber, formatSeconds, formatTokens } from "../../parts/amount.ts";
import { describeKnownCost } from "./cost.ts";

/** What it came to, in four figures. */
export function Totals({ usage }: { usage: Usage }) {
  const { inputTokens, outputTokens, cachedInputTokens, calls, seconds } = usage.total;
  const { words, unknown } = describeKnownCost(usage);
  const cached = cachedInputTokens ? ` (${formatTokens(cachedInputTokens)} from the cache)` : "";
  return (
    <dl className="figures">
      <Figure
        name="Tokens"
        value={formatTokens(inputTokens + outputTokens)}
        title={`${formatNumber(inputTokens + outputTokens)} tokens`}
      >
        {formatTokens(inputTokens)} in{cached}, {formatTokens(outputTokens)} out
      </Figure>
      <Figure name="Cost" value={words}>
        {unknown.length === 0 ? (
          "by the prices your host knows"
        ) : (
          <span className="warn-text">
            {unknown.length === 1 ? `The price of ${unknown[0]} is` : `The prices of ${unknown.length} models are`} not
            known: add {unknown.length === 1 ? "it" : "them"} to <code>prices</code> in config.jsonc.
          </span>
        )}
      </Figure>
      <Figure name="Calls" value={formatNumber(calls)}>
        to {usage.byModel.length === 1 ? "one model" : `${usage.byModel.length} models`}
      </Figure>
      <Figure name="Time" value={formatSeconds(seconds)}>
        with models and tools
      </Figure>
    </dl>
  );
}

function Figure({
  name,
  value,
  title,
  children,
}: {
  name: string;
  value: string;
  title?: string;
  children: ReactNode;
}) {
  return (
    <div className="figure">
      <dt>{name}</dt>
      <dd className="figure-value" title={title}>
        {value}
      </dd>
      <dd className="figure-more">{children}</dd>
    </div>
  );
}
