import type { NewEvent, Outcome } from "@thinkery/sdk";

/** What happens next: events that are recorded together, or something that happens to the client. Text is stored at once, or with the next event. */
export type Deed = { events: NewEvent[]; store?: boolean; tell?: boolean } | { connection: "lost" | "open" };

/** Everything that was told of it, and how the server itself sums it up. */
export interface Played {
  frames: string[];
  /** The streams of `/run`, by turn. */
  runs: Record<string, string>;
  outcomes: Outcome[];
}
