import type { NewEvent, Outcome } from "@thinkery/sdk";

/**
 * Events that are recorded together, or a change of the client's connection. `store` writes text at once instead of with
 * the next event; `flush` broadcasts at once.
 */
export type PlaybackStep = { events: NewEvent[]; store?: boolean; flush?: boolean } | { connection: "lost" | "open" };

/** Everything sent to clients, and the server's own outcomes. */
export interface PlaybackResult {
  frames: string[];
  /** The streams of `/run`, by run id. */
  runs: Record<string, string>;
  outcomes: Outcome[];
}
