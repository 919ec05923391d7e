import type { Context } from "@thinkery/sdk";
import { formatNumber, formatPercent } from "../parts/amount.ts";
import { Meter, getTone } from "../parts/meter.tsx";

/** How much of the model's context window the conversation uses. */
export function ContextMeter({ context }: { context: Context | undefined }) {
  if (!context || context.limit <= 0) return null;
  const { used, limit } = context;
  const model = context.model.replace(/^[^:]+:/, "");
  const share = used / limit;
  const percent = formatPercent(used, limit);
  const warning = getTone(share) === "calm" ? "" : " Older messages will be summarized soon.";
  const details = `${formatNumber(used)} of ${formatNumber(limit)} tokens (${model}).${warning}`;
  return (
    <span className="context-meter" title={details} data-tone={getTone(share)}>
      <Meter label="Context" valueText={`${percent}: ${details}`} share={share} />
      <span aria-hidden="true">
        <span className="context-label">Context </span>
        {percent}
      </span>
    </span>
  );
}
