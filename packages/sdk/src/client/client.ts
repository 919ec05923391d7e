import { getDefaultAgency, readTokenUser } from "../protocol/default-agency.ts";
import { parseAgencyId, parseAgentTarget } from "../protocol/target.ts";
import { type AgencyTools, createAgencyTools } from "./agency-tools.ts";
import { type AgentHandle, createAgentHandle } from "./agent.ts";
import { type Agents, createAgents } from "./agents.ts";
import { type Caller, toCaller } from "./caller.ts";
import { createDocuments, type Documents } from "./documents.ts";
import { type AgencyFeedback, createAgencyFeedback } from "./feedback.ts";
import { createMembers, type Members } from "./members.ts";
import { createEndpointFetch, type RequestOptions, createHostFetch } from "./request.ts";
import { createResources, type Resources } from "./resources.ts";
import { type AgencySchedules, createAgencySchedules } from "./schedules.ts";
import { createSharedTasks, type SharedTasks } from "./shared-tasks.ts";
import { createWorkflowRunHandle, type WorkflowRunHandle } from "./workflow-run.ts";

export { fail, isThinkeryError } from "../protocol/errors.ts";

export { watchAgency, type WatchAgencyOptions } from "./agency-socket.ts";
export type { AgencyTools } from "./agency-tools.ts";
export type { AgentHandle, EventsOptions, NewMessage } from "./agent.ts";
export type { Agents } from "./agents.ts";
export { type Capability, reduceCapability } from "./capability.ts";
export { type Caller, createCaller } from "./caller.ts";
export type { Documents } from "./documents.ts";
export type { AgencyFeedback } from "./feedback.ts";
export type { DeleteOptions, FilePlace, OpenFile, PutOptions } from "./file-requests.ts";
export type { AgentFiles } from "./files.ts";
export type { OpenResource, Resources } from "./resources.ts";
export type { AgencySchedules, AgentSchedules, Schedules } from "./schedules.ts";
export type { Members } from "./members.ts";
export type { SharedTasks } from "./shared-tasks.ts";
export { findOutcome } from "./outcome.ts";
export { withRetry } from "./with-retry.ts";
export {
  type AgentSocket,
  type AgentSocketOptions,
  type AgentSocketState,
  type ClientFrameInput,
  openAgentSocket,
} from "./agent-socket.ts";
export type { Turn, TurnEvent } from "./turn.ts";
export { watch, type WatchOptions } from "./watch.ts";
export type { FollowOptions, WorkflowRunHandle } from "./workflow-run.ts";

export interface ClientOptions extends RequestOptions {
  /**
   * How long agent handles retry while the host is unavailable, in milliseconds.
   *
   * @default 60_000
   */
  retryTimeoutMs?: number;
}

/** A client of a Thinkery host. */
export interface Client extends Caller {
  /** The user of the token. */
  readonly user: string;
  /**
   * Returns a handle to an agent, named as `alice`, `alice@review`, `alice@review:pr-123` or `alice@review@bob`. Sends
   * no request; the agent need not exist yet.
   */
  agent(target: string): AgentHandle;
  /**
   * Returns the agents of an agency.
   *
   * @param agency Defaults to the default agency of the token's user: `global` for the owner.
   */
  agents(agency?: string): Agents;
  /**
   * The schedules that belong to an agency rather than to one of its agents.
   *
   * @param agency Defaults like that of `agents`.
   */
  schedules(agency?: string): AgencySchedules;
  /**
   * The tasks that the members of an agency share.
   *
   * @param agency Defaults like that of `agents`.
   */
  tasks(agency?: string): SharedTasks;
  /**
   * What the agents and people of an agency think of how things go.
   *
   * @param agency Defaults like that of `agents`.
   */
  feedback(agency?: string): AgencyFeedback;
  /**
   * The tools that are given to the agents of an agency.
   *
   * @param agency Defaults like that of `agents`.
   */
  tools(agency?: string): AgencyTools;
  /**
   * The documents that the members of an agency share.
   *
   * @param agency Defaults like that of `agents`.
   */
  documents(agency?: string): Documents;
  /**
   * Large contents that the members of an agency share, by their hashes.
   *
   * @param agency Defaults like that of `agents`.
   */
  resources(agency?: string): Resources;
  /** Returns a handle to the run of a workflow: the agency `review:pr-123`. */
  workflowRun(agency: string): WorkflowRunHandle;
  /**
   * Who may use an agency. One of another user is named with its owner, as in `review@bob`.
   *
   * @param agency Defaults like that of `agents`.
   */
  members(agency?: string): Members;
}

/**
 * Creates a client of a Thinkery host.
 *
 * ```ts
 * const client = createClient({ url: "http://127.0.0.1:5099", token });
 * const turn = await client.agent("alice").send("Summarize README.md.");
 * for await (const event of turn) {
 *   if (event.type === "text") process.stdout.write(event.text);
 * }
 * ```
 */
export function createClient({ retryTimeoutMs = 60_000, ...options }: ClientOptions): Client {
  const fetchEndpoint = createEndpointFetch(options);
  const { call } = toCaller(fetchEndpoint);
  const user = readTokenUser(options.token);
  const defaultAgency = getDefaultAgency(user);
  const transport = { fetchEndpoint, fetchHost: createHostFetch(options), call, retryTimeoutMs };
  return {
    call,
    user,
    agent: (target) => createAgentHandle(transport, parseAgentTarget(target, defaultAgency)),
    agents: (agency = defaultAgency) => createAgents(transport, parseAgencyId(agency)),
    schedules: (agency = defaultAgency) => createAgencySchedules(transport, parseAgencyId(agency)),
    tasks: (agency = defaultAgency) => createSharedTasks(transport, parseAgencyId(agency)),
    feedback: (agency = defaultAgency) => createAgencyFeedback(transport, parseAgencyId(agency)),
    tools: (agency = defaultAgency) => createAgencyTools(transport, parseAgencyId(agency)),
    documents: (agency = defaultAgency) => createDocuments(transport, parseAgencyId(agency)),
    resources: (agency = defaultAgency) => createResources(transport, parseAgencyId(agency)),
    workflowRun: (agency) => createWorkflowRunHandle(transport, parseAgencyId(agency)),
    members: (agency = defaultAgency) => createMembers(transport, parseAgencyId(agency)),
  };
}
