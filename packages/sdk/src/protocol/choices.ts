/** What a caller chooses from. Apart from their schemas, so that the command line can offer them without carrying zod along. */

/** `queue` waits its turn, `steer` joins the one that runs, `interrupt` ends it and goes first. */
export const modes = ["queue", "steer", "interrupt"] as const;

export type Mode = (typeof modes)[number];

export const scopes = ["read", "chat", "approve", "admin"] as const;

export type Scope = (typeof scopes)[number];

/** What a model is used for. The runtime decides when, people decide which model. */
export const modelRoles = ["primary", "fast", "summarizer", "vision"] as const;

export type ModelRole = (typeof modelRoles)[number];

/** Providers that need no configuration but a key, in the order in which a default is looked for. */
export const builtInProviders = ["anthropic", "openai", "google", "ollama", "lmstudio"] as const;

export type BuiltInProvider = (typeof builtInProviders)[number];

/** What can be budgeted, and whose. */
export const budgetKinds = ["steps", "tokens", "costUsd", "seconds"] as const;

export type BudgetKind = (typeof budgetKinds)[number];

export const budgetLevels = ["turn", "agent", "agency", "user"] as const;

export type BudgetLevel = (typeof budgetLevels)[number];

/** For good, or anew every day (UTC). */
export const budgetPeriods = ["day", "ever"] as const;

export type BudgetPeriod = (typeof budgetPeriods)[number];
