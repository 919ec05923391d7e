import {
  type Agent as AgentInfo,
  type AgentAddress,
  fail,
  formatAddress,
  isThinkeryError,
  type ReportStatus,
} from "@thinkery/sdk";
import type { SubagentLimits } from "@thinkery/sdk/internal";
import type { AgentStore } from "../../store/agent-store.ts";
import { isActive, type SubagentRow } from "../../store/subagent-row.ts";
import type { Recorder } from "../../turn/loop/recorder.ts";
import type { AgentResolver } from "../agent-resolver.ts";
import type { Registration } from "../registration.ts";
import type { AssignmentRequest } from "./assignment.ts";
import type { ChildClient } from "./child-client.ts";
import type { Forks } from "./forks.ts";

interface ChildStarterOptions {
  address: AgentAddress;
  store: AgentStore;
  recorder: Recorder;
  registration: Registration;
  limits: SubagentLimits;
  resolver: AgentResolver;
  children: ChildClient;
  forks: Forks;
  /** Resolves when everything recorded so far is on disk. */
  sync(): Promise<void>;
  /** Called when a sub-agent cannot be started. */
  onFailed(row: SubagentRow, status: Exclude<ReportStatus, "complete">, error: string): Promise<void>;
}

/** Starts delegated work, at most `maxActive` at a time. Starting a sub-agent twice does no harm. */
export class ChildStarter {
  readonly #options: ChildStarterOptions;
  readonly #starting = new Map<string, Promise<void>>();
  /** Those that are known to work. Forgotten with the object's memory, and asked again then. */
  readonly #started = new Set<string>();
  /** How often in a row a sub-agent did not respond. */
  readonly #failures = new Map<string, number>();

  constructor(options: ChildStarterOptions) {
    this.#options = options;
  }

  get isBusy(): boolean {
    return this.#starting.size > 0 || this.#countStartable() > 0 || this.#listUnstarted().length > 0;
  }

  /** Asks all sub-agents again with the next `startAll`. */
  forget(): void {
    this.#started.clear();
  }

  async startAll(): Promise<void> {
    this.#takeFromQueue();
    await Promise.all(this.#listUnstarted().map((row) => this.#startOnce(row)));
  }

  /** Lists those that are not known to work. One that waits for a person does, and says when it goes on. */
  #listUnstarted(): SubagentRow[] {
    const rows = this.#options.store.subagents.listActive();
    return rows.filter(
      ({ state, waitingFor, taskId }) => state === "running" && !waitingFor && !this.#started.has(taskId),
    );
  }

  /** Counts those in the queue that can start. */
  #countStartable(): number {
    const { store, limits } = this.#options;
    const queued = store.subagents.listQueued().length;
    return queued === 0 ? 0 : Math.max(0, Math.min(queued, limits.maxActive - store.subagents.countRunning()));
  }

  #takeFromQueue(): void {
    const { store, recorder } = this.#options;
    const count = this.#countStartable();
    if (count === 0) return;
    recorder.record(
      ...store.subagents
        .listQueued()
        .slice(0, count)
        .map(({ childThreadId, taskId }) => ({
          type: "subagent.started" as const,
          data: { childThreadId, taskId },
        })),
    );
  }

  #startOnce(row: SubagentRow): Promise<void> {
    const { taskId } = row;
    const current = this.#starting.get(taskId);
    if (current) return current;
    const starting = this.#start(row).finally(() => this.#starting.delete(taskId));
    this.#starting.set(taskId, starting);
    return starting;
  }

  async #start(row: SubagentRow): Promise<void> {
    const { store, children, forks, sync, onFailed, limits } = this.#options;
    const { taskId } = row;
    try {
      // What a sub-agent does must not outlive our knowledge of it.
      await sync();
      const request = await this.#createRequest(row);
      await forks.create(row);
      const current = store.subagents.get(taskId);
      if (!current || !isActive(current)) return;
      await children.start(row.facetName, request);
      this.#noteStarted(taskId);
    } catch (error) {
      const isFinal = isThinkeryError(error) && error.code !== "unavailable" && error.code !== "internal";
      const hasBegun = isFinal ? await this.#hasBegun(row).catch(() => undefined) : undefined;
      // It goes on with what it was given.
      if (hasBegun) return this.#noteStarted(taskId);
      if (isFinal && hasBegun === false) return onFailed(row, "failed", error.message);
      console.error(`sub-agent ${row.childThreadId} did not respond`, error);
      const failures = (this.#failures.get(taskId) ?? 0) + 1;
      this.#failures.set(taskId, failures);
      if (failures >= limits.maxChecks) await onFailed(row, "interrupted", "it did not respond");
    }
  }

  #noteStarted(taskId: string): void {
    this.#started.add(taskId);
    this.#failures.delete(taskId);
  }

  /** Whether it works already, or has ended and reports. */
  async #hasBegun({ facetName }: SubagentRow): Promise<boolean> {
    try {
      const status = await this.#options.children.describe(facetName);
      return status !== undefined && (status.status !== "over" || status.step > 0);
    } catch (error) {
      if (isThinkeryError(error) && error.code === "not_found") return false;
      throw error;
    }
  }

  async #createRequest(row: SubagentRow): Promise<AssignmentRequest> {
    const { address, store, registration, resolver, limits } = this.#options;
    const registered = registration.get();
    const turnProps = row.runId === undefined ? undefined : store.turns.get(row.runId)?.props;
    const { type, model, isLeased, props, policy, hitlTools } = await resolver.resolveForChild(
      registered,
      turnProps,
      row.agentType,
    );
    if (!type) throw fail("not_found", `There is no sub-agent type “${row.agentType}” any more.`);
    const { agency, owner } = registered.agent;
    // A sub-agent that shares the files of one with a fork works on that fork.
    const branch = row.fork ?? registered.assignment?.branch;
    const assigned = store.subagents.getAssignment(row.taskId);
    if (!assigned) throw fail("not_found", "Its task was deleted.");
    const agent: AgentInfo = {
      id: row.facetName,
      name: row.facetName,
      agency,
      blueprint: row.agentType,
      ...(model ? { model } : {}),
      owner,
      parent: formatAddress(address),
      createdAt: new Date(row.createdAt).toISOString(),
    };
    return {
      agent,
      props,
      assignment: {
        parent: formatAddress(address),
        token: row.token,
        taskId: row.taskId,
        facetName: row.facetName,
        message: assigned.message,
        ...(row.messageId === undefined ? {} : { parentMessageId: row.messageId }),
        from: assigned.from,
        ...(type.blueprint ? { blueprint: type.blueprint } : {}),
        maxSteps: limits.maxSteps,
        timeoutMs: row.timeoutMs,
        ...(branch === undefined ? {} : { branch }),
        ...(row.streaming ? { streaming: true } : {}),
        ...(isLeased ? { isLeased: true } : {}),
        policy,
        hitlTools,
      },
    };
  }
}
