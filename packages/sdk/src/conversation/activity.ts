import type { Activity } from "../protocol/frame.ts";

/** What the code of an agent shows while its turn runs. */
export interface CurrentActivity {
  thinking: string;
  action?: { tool: string; args: unknown } | undefined;
}

/** Of what it thinks, readers see the end. */
const maxThinkingChars = 3000;

export function reduceActivity(current: CurrentActivity = { thinking: "" }, activity: Activity): CurrentActivity {
  switch (activity.kind) {
    case "thinking":
      return { ...current, thinking: (current.thinking + activity.text).slice(-maxThinkingChars) };
    case "action":
      return { ...current, action: { tool: activity.tool, args: activity.args } };
    case "idle":
      return { ...current, action: undefined };
  }
}
