import type {
  Action,
  Agent as AgentInfo,
  Blueprint,
  DaySpending,
  PersonWait,
  Props,
  ReportStatus,
  Sender,
  SubagentUsage,
} from "@thinkery/sdk";
import type { PolicyRule } from "../../policy/evaluate-policy.ts";
import type { Reservation } from "../../store/usage-totals.ts";

/** What a parent writes into its sub-agent's store when it delegates to it. */
export interface Assignment {
  /** The parent's address. */
  parent: string;
  /** Known only to the two: proves that a report is about this assignment. */
  token: string;
  taskId: string;
  facetName: string;
  message: string;
  /** The message of the parent's model that delegated. */
  parentMessageId?: string;
  from: Sender;
  /** The blueprint, if the parent's config contains it. */
  blueprint?: Blueprint;
  maxSteps: number;
  timeoutMs: number;
  /** The branch that it works on, if not on its parent's. */
  branch?: string;
  streaming?: boolean;
  /** A budget of an agent above limits it: each model call needs a lease. */
  isLeased?: boolean;
  /** Its parent's rules that deny or ask, and what its parent inherited. */
  policy: PolicyRule[];
  /** Tools that need a person's approval in its parent. */
  hitlTools: string[];
}

/** How a sub-agent is created. */
export interface AssignmentRequest {
  agent: AgentInfo;
  props: Props;
  assignment: Assignment;
}

/**
 * An action of a sub-agent or of one below it, with its number in the sub-agent's log and the sub-agent's step.
 * The last of several has what the sub-agent has spent, unless its leases say so.
 */
export type RelayedAction = Action & { number: number; step?: number; usage?: SubagentUsage };

export interface AssignmentReport {
  taskId: string;
  token: string;
  status: ReportStatus;
  result?: string;
  error?: string;
  usage: SubagentUsage;
  /** What it and everyone below have spent, and what those below may be spending. */
  days: DaySpending[];
  reserved: Reservation;
  steps: number;
  ms: number;
}

/** What a sub-agent is doing. */
export interface AssignmentStatus {
  status: "running" | "waiting" | "over";
  /** Its turn that works on the assignment. */
  runId?: string;
  step: number;
  waitingFor?: PersonWait;
}

/** The key under which an assignment is admitted: a second start is the same turn. */
export const formatAssignmentKey = ({ token }: Pick<Assignment, "token">) => `assignment:${token}`;
