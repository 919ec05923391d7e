/** A call of `task` for a script. */
export const task = (description: string, more: object = {}) => ({ tool: "task", input: { description, ...more } });

/** Agents play the script `default` and their sub-agents the script `fast`; main may be killed at any time. */
export const teamConfig = {
  maxFailuresPerMinute: 1000,
  model: "scripted:default",
  models: { fast: "scripted:fast" },
  turn: { heartbeatSeconds: 1, maxCrashes: 20, maxAttempts: 20 },
};
