/** What a caller chooses from. Apart from their schemas, so that the command line can offer them without carrying zod along. */

/** How a turn can be computed. Later drivers add their names here. */
export const drivers = ["think"] as const;

/** `queue` waits its turn, `steer` joins the one that runs, `interrupt` ends it and goes first. */
export const modes = ["queue", "steer", "interrupt"] as const;

export type Mode = (typeof modes)[number];

export const scopes = ["read", "chat", "approve", "admin"] as const;

export type Scope = (typeof scopes)[number];
