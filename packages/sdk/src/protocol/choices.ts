/** Values of enums. They are separate from their schemas so that the CLI can use them without loading Zod. */

/** `queue` waits for earlier turns, `steer` joins the running turn, `interrupt` cancels it and runs next. */
export const modes = ["queue", "steer", "interrupt"] as const;

export type Mode = (typeof modes)[number];

/** What a token allows. `chat` includes `read`, and `admin` includes all others. */
export const scopes = ["read", "chat", "approve", "admin"] as const;

export type Scope = (typeof scopes)[number];

/** Whether a credential with these scopes has one of them, directly or because another includes it. */
export function hasScope(granted: readonly string[], scope: Scope): boolean {
  return granted.includes(scope) || granted.includes("admin") || (scope === "read" && granted.includes("chat"));
}

/** Returns the scopes that both of two credentials have. */
export function intersectScopes(first: readonly string[], second: readonly string[]): Scope[] {
  return scopes.filter((scope) => hasScope(first, scope) && hasScope(second, scope));
}

/** What a model is used for. The runtime chooses the role, users choose the model. */
export const modelRoles = ["primary", "fast", "summarizer", "vision"] as const;

export type ModelRole = (typeof modelRoles)[number];

/** How much a reasoning model thinks before it responds. A model that lacks a level uses the nearest one. */
export const reasoningEfforts = ["none", "minimal", "low", "medium", "high", "xhigh", "max"] as const;

export type ReasoningEffort = (typeof reasoningEfforts)[number];

/** Providers that need no configuration except a key, in the order in which the default model is chosen. */
export const builtInProviders = ["anthropic", "openai", "google", "ollama", "lmstudio"] as const;

export type BuiltInProvider = (typeof builtInProviders)[number];

/** What a budget can limit. */
export const budgetKinds = ["steps", "tokens", "costUsd", "seconds"] as const;

export type BudgetKind = (typeof budgetKinds)[number];

/** To whom a budget applies. */
export const budgetLevels = ["turn", "agent", "agency", "user"] as const;

export type BudgetLevel = (typeof budgetLevels)[number];

/** `day` resets every day (UTC), `ever` never. */
export const budgetPeriods = ["day", "ever"] as const;

export type BudgetPeriod = (typeof budgetPeriods)[number];

/** What kind of work a task is. */
export const taskTypes = ["explore", "code", "test", "review", "plan", "fix"] as const;

export type TaskType = (typeof taskTypes)[number];

/** `blocked` waits for a task that failed or was cancelled, or is held back. The last three are final. */
export const taskStatuses = ["pending", "in_progress", "blocked", "complete", "failed", "cancelled"] as const;

export type TaskStatus = (typeof taskStatuses)[number];

export const approvalStatuses = ["pending", "approved", "denied", "expired"] as const;

export type ApprovalStatus = (typeof approvalStatuses)[number];

/** How long an approval counts: for this call, or for calls like it by the same agent or by its whole agency. */
export const rememberScopes = ["once", "agent", "always"] as const;

export type RememberScope = (typeof rememberScopes)[number];

/** What a turn can wait for. */
export const continuationKinds = ["input", "approval", "webhook", "timer"] as const;

export type ContinuationKind = (typeof continuationKinds)[number];

/** What a schedule does about times that passed while the host was down. */
export const missedPolicies = ["skip", "once", "all"] as const;

export type MissedPolicy = (typeof missedPolicies)[number];

/** What a schedule does if it is due while its previous run is not over. */
export const overlapPolicies = ["skip", "queue"] as const;

export type OverlapPolicy = (typeof overlapPolicies)[number];

export const scheduleRunStatuses = ["pending", "ran", "missed", "skipped", "failed"] as const;

export type ScheduleRunStatus = (typeof scheduleRunStatuses)[number];

/** How the turn of a scheduled run ended. */
export const scheduleOutcomes = ["completed", "failed", "canceled"] as const;

export type ScheduleOutcome = (typeof scheduleOutcomes)[number];

/** What a sub-agent waits for a person to give: a decision about calls, or an answer. */
export const personWaits = ["approval", "question"] as const;

export type PersonWait = (typeof personWaits)[number];

/** What the code of a user's agent may use if it was granted. Reply, state, storage and log need no grant. */
export const agentCapabilities = ["ai", "tools", "fs", "bash", "fetch", "channel"] as const;

export type AgentCapability = (typeof agentCapabilities)[number];

export const logLevels = ["info", "warn", "error"] as const;

export type LogLevel = (typeof logLevels)[number];

/** Who wrote a message in a channel: an agent, a person, or the host itself. */
export const senderKinds = ["agent", "user", "host"] as const;

export type SenderKind = (typeof senderKinds)[number];

/** In which order an agent gets the messages that wait in its inbox. */
export const priorities = ["low", "normal", "high"] as const;

export type Priority = (typeof priorities)[number];

/** `seen` is in a turn of its agent, `deferred` comes again later, the last two are final. */
export const inboxStatuses = ["pending", "seen", "deferred", "acked", "given_up"] as const;

export type InboxStatus = (typeof inboxStatuses)[number];

/** What an agent of a team is doing, as far as its agency knows. */
export const teamAgentStatuses = ["idle", "working", "waiting", "stopped", "failed"] as const;

export type TeamAgentStatus = (typeof teamAgentStatuses)[number];

/** `waiting` needs a person; the last three are final. */
export const workflowStatuses = ["running", "waiting", "stopped", "completed", "failed"] as const;

export type WorkflowStatus = (typeof workflowStatuses)[number];

/** Why a workflow ended without being completed by its agents. */
export const workflowReasons = [
  "no_progress",
  "turn_limit",
  "time_limit",
  "given_up",
  "agent_failed",
  "budget",
  "setup",
] as const;

export type WorkflowReason = (typeof workflowReasons)[number];
