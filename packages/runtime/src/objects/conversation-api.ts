import {
  type Action,
  type ActionQuery,
  type Admission,
  type AgentEvent,
  type AgentState,
  type AgentUsage,
  parseProps,
  type EventQuery,
  fail,
  type Invoke,
  type LifecycleResponse,
  type Message,
  type MessageQuery,
  type Outcome,
  type Run,
  type Sender,
  type BudgetStatus,
  type ToolCallResolution,
} from "@thinkery/sdk";
import { RpcTarget } from "cloudflare:workers";
import { toRun } from "../store/turns.ts";
import { createInput } from "../turn/admission/input.ts";
import { listAgentBudgetStatuses } from "../turn/budget/turn-budget.ts";
import type { AgentParts } from "./assemble-agent.ts";
import { converse, followEvents } from "./broadcasts.ts";
import { createExport, createStatus, createUsage, readState } from "./snapshot.ts";

/** Sends messages to an agent and reads its conversation, log and usage. */
export class ConversationApi extends RpcTarget {
  readonly #open: () => Promise<AgentParts>;

  constructor(open: () => Promise<AgentParts>) {
    super();
    this.#open = open;
  }

  async admit(invoke: Invoke, from: Sender): Promise<Admission> {
    const agent = await this.#open();
    await checkProps(agent, invoke);
    return agent.queue.admit(await createInput(invoke, from, agent.blobs));
  }

  async converse(invoke: Invoke, from: Sender, name: string): Promise<ReadableStream<Uint8Array>> {
    const agent = await this.#open();
    const { store, broadcaster, recorder, queue, blobs } = agent;
    await checkProps(agent, invoke);
    // Subscribes before the turn starts, or its first text would be missed.
    const input = await createInput(invoke, from, blobs);
    return converse(store, broadcaster, recorder, name, () => queue.admit(input));
  }

  /** Submits the result of a deferred tool call. */
  async resolveToolCall(result: ToolCallResolution): Promise<Run> {
    return (await this.#open()).queue.resolveToolCall(result);
  }

  async cancel(runId?: string): Promise<{ runId?: string; status: Run["status"] }> {
    const { queue } = await this.#open();
    const turn = queue.cancel(runId, "canceled");
    if (!turn && runId) throw fail("not_found", "Turn not found.");
    return turn ? { runId: turn.id, status: toRun(turn).status } : { status: "idle" };
  }

  async stop(by: string): Promise<LifecycleResponse> {
    const { queue, store, name } = await this.#open();
    queue.stop(by);
    return toLifecycleResponse(createStatus(store, name));
  }

  async start(by: string): Promise<LifecycleResponse> {
    const { queue, store, name } = await this.#open();
    queue.start(by);
    return toLifecycleResponse(createStatus(store, name));
  }

  /** Waits until the turn is over. */
  async waitForOutcome(runId: string): Promise<Outcome> {
    const { store, queue } = await this.#open();
    if (!store.turns.get(runId)) throw fail("not_found", "Turn not found.");
    return queue.waitForOutcome(runId);
  }

  async getState(): Promise<{ state: AgentState; run: Run }> {
    return readState(await this.#open());
  }

  async listEvents({ after = 0, limit }: EventQuery): Promise<{ events: AgentEvent[]; next?: number }> {
    const { log } = (await this.#open()).store;
    const events = log.read(after, limit);
    const last = events.at(-1)?.seq;
    return { events, ...(last !== undefined && last < log.last ? { next: last } : {}) };
  }

  async followEvents(after: number | undefined, progress: boolean): Promise<ReadableStream<Uint8Array>> {
    const { store, broadcaster } = await this.#open();
    return followEvents(store, broadcaster, after, progress);
  }

  async listMessages(query: MessageQuery): Promise<{ messages: Message[]; next?: string }> {
    return (await this.#open()).store.messages.page(query);
  }

  async clear(by: string): Promise<void> {
    const { store, broadcaster, queue, resolver, features } = await this.#open();
    if (queue.isBusy || store.turns.getPaused()) {
      throw fail("conflict", "A turn is running. Cancel it, or wait until it is over.");
    }
    broadcaster.onRecorded(store.clear(by));
    resolver.resetDriver();
    for (const feature of features) feature.clear?.();
  }

  async listActions(query: ActionQuery): Promise<{ actions: Action[]; next?: string }> {
    return (await this.#open()).store.actions.page(query);
  }

  async getUsage(days?: number): Promise<AgentUsage & { budget: BudgetStatus[] }> {
    const { store, resolver, registration, agency } = await this.#open();
    const budget = await resolver.resolveBudget(registration.get());
    const shared = (await resolver.isMetered()) ? await agency().listBudgetStatuses() : [];
    return { ...createUsage(store, days), budget: [...listAgentBudgetStatuses(store, budget), ...shared] };
  }

  /** Returns an `AgentExport` as text, because RPC values are limited in size. */
  async export(): Promise<ReadableStream<Uint8Array>> {
    return new Blob([JSON.stringify(createExport(await this.#open()))]).stream();
  }

  async readBlob(hash: string): Promise<{ mediaType: string; data: Uint8Array } | undefined> {
    const { store, blobs } = await this.#open();
    const mediaType = store.blobs.getMediaType(hash);
    const data = mediaType ? await blobs.get(hash) : undefined;
    return mediaType && data ? { mediaType, data } : undefined;
  }
}

async function checkProps({ resolver, registration }: AgentParts, { props }: Invoke): Promise<void> {
  if (props) await resolver.check(registration.get(), parseProps(props));
}

function toLifecycleResponse({ status, queued }: LifecycleResponse): LifecycleResponse {
  return { status, queued };
}
