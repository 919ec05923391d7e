import type { Context } from "@thinkery/sdk";
import { inFull, percent } from "../parts/amount.ts";
import { Meter, toneOf } from "../parts/meter.tsx";

/** How full the model's context is: how much of what it reads at once the conversation takes. */
export function ContextMeter({ context }: { context: Context | undefined }) {
  if (!context || context.limit <= 0) return null;
  const { used, limit } = context;
  const model = context.model.replace(/^[^:]+:/, "");
  const share = used / limit;
  const words = `${percent(used, limit)} of what ${model} reads at once`;
  const soon = toneOf(share) === "calm" ? "" : " Soon older messages are summed up for it.";
  return (
    <span className="context-meter" title={`${inFull(used)} of ${inFull(limit)} tokens.${soon}`} data-tone={toneOf(share)}>
      <Meter label="Context" words={`${words}: ${inFull(used)} of ${inFull(limit)} tokens.${soon}`} share={share} />
      <span aria-hidden="true">
        {percent(used, limit)}
        <span className="context-words"> of what {model} reads at once</span>
      </span>
    </span>
  );
}
