import type { Call, Think } from "@thinkery/sdk/react";
import { Icon } from "../parts/icon.tsx";
import { sanitizeText } from "./call/sanitize-text.ts";
import { findCard } from "./cards/cards.ts";
import { FormattedText } from "./formatted-text.tsx";

export type Activity = NonNullable<Think["activity"]>;

export function isVisible({ thinking, action }: Activity): boolean {
  return action !== undefined || thinking.trim() !== "";
}

/** What an agent's code shows while it works: what it does now, and what it thinks. Gone when the turn ends. */
export function ActivityView({ activity: { thinking, action } }: { activity: Activity }) {
  return (
    <div className="activity">
      {thinking.trim() !== "" && (
        <details className="thoughts">
          <summary>Thinking…</summary>
          <FormattedText text={thinking} />
        </details>
      )}
      {action && <ActionView action={action} />}
    </div>
  );
}

function ActionView({ action }: { action: NonNullable<Activity["action"]> }) {
  const { name, hint, icon } = describeAction(action);
  return (
    <p className="call activity-action" data-state="running">
      <Icon name={icon} />
      <span className="call-name">{name}</span>
      <span className="call-hint">{hint}</span>
    </p>
  );
}

const maxNameChars = 80;

/** Describes an action as the card of such a tool call would, in a few words. */
export function describeAction({ tool, args }: NonNullable<Activity["action"]>) {
  const call: Call = { id: "activity", name: tool, input: args };
  const { hint, icon } = findCard(call);
  return { name: sanitizeText(tool.slice(0, maxNameChars)).replace(/\s+/g, " "), hint, icon };
}
