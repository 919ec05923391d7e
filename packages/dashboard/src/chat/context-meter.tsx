import type { Context } from "@thinkery/sdk";
import { formatNumber, formatPercent } from "../parts/amount.ts";
import { Meter, getTone } from "../parts/meter.tsx";

/** How full the model's context is: how much of what it reads at once the conversation takes. */
export function ContextMeter({ context }: { context: Context | undefined }) {
  if (!context || context.limit <= 0) return null;
  const { used, limit } = context;
  const model = context.model.replace(/^[^:]+:/, "");
  const share = used / limit;
  const words = `${formatPercent(used, limit)} of what ${model} reads at once`;
  const soon = getTone(share) === "calm" ? "" : " Soon older messages are summed up for it.";
  return (
    <span
      className="context-meter"
      title={`${formatNumber(used)} of ${formatNumber(limit)} tokens.${soon}`}
      data-tone={getTone(share)}
    >
      <Meter
        label="Context"
        words={`${words}: ${formatNumber(used)} of ${formatNumber(limit)} tokens.${soon}`}
        share={share}
      />
      <span aria-hidden="true">
        {formatPercent(used, limit)}
        <span className="context-words"> of what {model} reads at once</span>
      </span>
    </span>
  );
}
