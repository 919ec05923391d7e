import {
  type AgentAddress,
  type Delegation,
  fail,
  formatAddress,
  type NewEvent,
  type Sender,
  type Task,
} from "@thinkery/sdk";
import type { SubagentLimits } from "@thinkery/sdk/internal";
import type { AgentStore } from "../../store/agent-store.ts";
import { isActive, type SubagentRow } from "../../store/subagent-row.ts";
import type { AgentResolver } from "../agent-resolver.ts";
import type { Registration } from "../registration.ts";
import { type DelegatedTasks, toFacetName } from "./delegated-tasks.ts";

/** Who delegates. A request over HTTP has no turn. */
export interface DelegationSource {
  runId?: string;
  callId?: string;
  messageId?: string;
  from: Sender;
  record(...events: NewEvent[]): void;
}

interface DelegationsOptions {
  address: AgentAddress;
  store: AgentStore;
  registration: Registration;
  limits: SubagentLimits;
  resolver: AgentResolver;
  tasks: DelegatedTasks;
  /** Throws if the agent must not run this command to check a merge. */
  authorizeCheck(command: string): Promise<void>;
}

const maxTitleChars = 80;

/** Validates and records delegations, before anything is started. */
export class Delegations {
  readonly #options: DelegationsOptions;

  constructor(options: DelegationsOptions) {
    this.#options = options;
  }

  /** The same call or the same task again is the same sub-agent. */
  async add(delegation: Delegation, source: DelegationSource): Promise<{ row: SubagentRow; isNew: boolean }> {
    const { registration, resolver } = this.#options;
    const known = this.#find(delegation, source);
    if (known) return { row: known, isNew: false };
    if (delegation.check !== undefined) await this.#options.authorizeCheck(delegation.check);
    const types = await resolver.listSubagentTypes(registration.get());
    // Nothing is awaited from here on: calls of one answer are made at the same time.
    this.#check(delegation, source);
    const added = this.#find(delegation, source);
    if (added) return { row: added, isNew: false };
    const { task, events: taskEvents } = this.#assignTask(delegation, source);
    const agentType = this.#chooseType(delegation.agentType, task.type, types);
    source.record(this.#createSpawnedEvent(delegation, source, task, agentType), ...taskEvents);
    const row = this.#options.store.subagents.get(task.id);
    if (!row) throw fail("conflict", "The turn is over.");
    return { row, isNew: true };
  }

  #find({ taskId }: Delegation, { callId }: DelegationSource): SubagentRow | undefined {
    const { subagents } = this.#options.store;
    const byCall = callId === undefined ? undefined : subagents.findByCall(callId);
    const byTask = taskId === undefined ? undefined : subagents.get(taskId);
    if (byCall) return byCall;
    if (byTask && !isActive(byTask))
      throw fail("conflict", `Task “${byTask.taskId}” is ${byTask.state}; create a new one to delegate.`);
    return byTask;
  }

  #check({ workspace, check }: Delegation, { runId }: DelegationSource): void {
    const { address, limits, store } = this.#options;
    if (store.facts.getStoppedBy() !== undefined)
      throw fail("conflict", "The agent is stopped and delegates nothing. Start it first: `thinkery start <agent>`.");
    if (workspace === "shared" && check !== undefined)
      throw fail("bad_request", "A check is for the merge of a fork. Set workspace to “fork”, or leave out check.");
    if (address.path.length > limits.maxDepth) {
      const message = `Sub-agents can be nested ${limits.maxDepth} levels deep; this one cannot delegate further.`;
      throw fail("conflict", message);
    }
    if (runId !== undefined && store.subagents.countByTurn(runId) >= limits.maxPerTurn)
      throw fail("conflict", `A turn can delegate to at most ${limits.maxPerTurn} sub-agents.`);
  }

  #assignTask(
    { taskId, title, description = "" }: Delegation,
    { runId }: DelegationSource,
  ): { task: Task; events: NewEvent[] } {
    const { tasks } = this.#options;
    if (taskId !== undefined) return tasks.assign(taskId, runId);
    const firstLine = description.trim().split("\n", 1)[0] ?? "";
    const shortTitle = (title ?? firstLine).slice(0, maxTitleChars).toWellFormed() || "Task";
    return tasks.create({ title: shortTitle, description, runId });
  }

  #chooseType(requested: string | undefined, taskType: string, types: readonly { name: string }[]): string {
    const own = this.#options.registration.get().agent.blueprint;
    const names = types.map(({ name }) => name);
    if (requested === undefined) return names.includes(taskType) ? taskType : own;
    if (names.includes(requested)) return requested;
    const available = names.length > 0 ? `Available: ${names.join(", ")}.` : "None is available.";
    throw fail("bad_request", `There is no sub-agent type “${requested}”. ${available}`);
  }

  #createSpawnedEvent(delegation: Delegation, source: DelegationSource, task: Task, agentType: string) {
    const { address, store, limits } = this.#options;
    const { runId, callId, messageId, from } = source;
    const { check } = delegation;
    const facetName = toFacetName(task.id);
    const isFull = store.subagents.countRunning() >= limits.maxActive;
    return {
      type: "subagent.spawned",
      data: {
        childThreadId: `${formatAddress(address)}/${facetName}`,
        taskId: task.id,
        facetName,
        token: crypto.randomUUID(),
        ...(runId === undefined ? {} : { runId }),
        ...(callId === undefined ? {} : { callId }),
        ...(messageId === undefined ? {} : { messageId }),
        agentType,
        title: delegation.title ?? task.title,
        message: createMessage(delegation, task),
        from,
        wait: delegation.wait,
        ...(isFork(delegation)
          ? { workspace: "fork" as const, branch: facetName, ...(check === undefined ? {} : { check }) }
          : { workspace: "shared" as const }),
        ...(delegation.streaming ? { streaming: true } : {}),
        timeoutMs: delegation.timeoutMs ?? limits.timeoutSeconds * 1000,
        ...(isFull ? { queued: true } : {}),
      },
    } satisfies NewEvent;
  }
}

/** Only a fork is merged, so a check implies one. */
const isFork = ({ workspace, check }: Delegation) => workspace === "fork" || check !== undefined;

/** A sub-agent gets the assignment verbatim, and nothing else. */
function createMessage({ taskId, title, description, context }: Delegation, task: Task): string {
  if (taskId === undefined) return description ?? task.title;
  const parts = [title ?? task.title, description ?? task.description, context];
  return parts.filter((part) => part !== undefined && part !== "").join("\n\n");
}
