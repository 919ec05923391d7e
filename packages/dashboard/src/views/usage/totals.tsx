import type { Usage } from "../../api/usage.ts";
import { formatCount, formatNumber, formatSeconds, formatTokens } from "../../parts/amount.ts";
import { Figure } from "../../parts/figure.tsx";
import { describeKnownCost } from "./cost.ts";

export function Totals({ usage }: { usage: Usage }) {
  const { inputTokens, outputTokens, cachedInputTokens, calls, seconds } = usage.total;
  const { text, unknown } = describeKnownCost(usage);
  const cached = cachedInputTokens ? ` (${formatTokens(cachedInputTokens)} cached)` : "";
  return (
    <dl className="figures">
      <Figure
        name="Tokens"
        value={formatTokens(inputTokens + outputTokens)}
        title={`${formatNumber(inputTokens + outputTokens)} tokens`}
      >
        {formatTokens(inputTokens)} in{cached}, {formatTokens(outputTokens)} out
      </Figure>
      <Figure name="Cost" value={text}>
        {unknown.length === 0 ? (
          "based on known prices"
        ) : (
          <span className="warn-text">
            {unknown.length === 1 ? `The price of ${unknown[0]} is` : `The prices of ${unknown.length} models are`}{" "}
            unknown. Add {unknown.length === 1 ? "it" : "them"} to <code>prices</code> in config.jsonc.
          </span>
        )}
      </Figure>
      <Figure name="Calls" value={formatNumber(calls)}>
        to {formatCount(usage.byModel.length, "model")}
      </Figure>
      <Figure name="Time" value={formatSeconds(seconds)}>
        in model and tool calls
      </Figure>
    </dl>
  );
}
