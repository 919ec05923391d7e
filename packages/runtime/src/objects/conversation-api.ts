import {
  type Action,
  type ActionQuery,
  type Admission,
  type Agent as AgentInfo,
  type AgentEvent,
  type AgentState,
  type AgentTool,
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
  type ScheduleOutcome,
  type Sender,
  type BudgetStatus,
  type CancelResponse,
  type ToolCallResolution,
} from "@thinkery/sdk";
import { RpcTarget } from "cloudflare:workers";
import type { ScheduledMessage } from "../schedules/run-admission.ts";
import { toRun } from "../store/turns.ts";
import { createInput } from "../turn/admission/input.ts";
import { listAgentBudgetStatuses } from "../turn/budget/turn-budget.ts";
import { admitScheduled, getTurnOutcomes } from "./admit-scheduled.ts";
import { openExport } from "./agent-export.ts";
import type { AgentParts } from "./assemble-agent.ts";
import { converse, followEvents } from "./broadcasts.ts";
import type { Credential, CredentialWatch } from "./credential-watch.ts";
import { createStatus, createUsage, readState } from "./snapshot.ts";
import type { EventStream } from "./stream.ts";
import type { Assignment } from "./subagents/assignment.ts";
import { listPersonWaits, type PersonWaits } from "./waits-feature.ts";

/** Sends messages to an agent and reads its conversation, log and usage. */
export class ConversationApi extends RpcTarget {
  readonly #open: () => Promise<AgentParts>;
  readonly #credentialWatch: CredentialWatch;

  constructor(open: () => Promise<AgentParts>, credentialWatch: CredentialWatch) {
    super();
    this.#open = open;
    this.#credentialWatch = credentialWatch;
  }

  async getAgent(): Promise<AgentInfo> {
    return (await this.#open()).registration.get().agent;
  }

  async admit(invoke: Invoke, from: Sender): Promise<Admission> {
    const agent = await this.#open();
    await checkProps(agent, invoke);
    return agent.turnLease.acquireFor(async () => agent.queue.admit(await createInput(invoke, from, agent.blobs)));
  }

  /** Called by an agency whose schedule is due. */
  async admitScheduled(message: ScheduledMessage): Promise<{ runId?: string }> {
    return admitScheduled(await this.#open(), message);
  }

  async getTurnOutcomes(runIds: string[]): Promise<Record<string, ScheduleOutcome>> {
    return getTurnOutcomes((await this.#open()).store, runIds);
  }

  async converse(
    invoke: Invoke,
    from: Sender,
    name: string,
    credentials?: Credential[],
  ): Promise<ReadableStream<Uint8Array>> {
    const agent = await this.#open();
    const { store, broadcaster, recorder, queue, blobs } = agent;
    await checkProps(agent, invoke);
    return agent.turnLease.acquireFor(async () => {
      const input = await createInput(invoke, from, blobs);
      // Subscribes before the turn starts, or its first text would be missed.
      return this.#endWith(credentials, (onEnd) =>
        converse(store, broadcaster, recorder, name, () => queue.admit(input), onEnd),
      );
    });
  }

  /** Submits the result of a deferred tool call. */
  async resolveToolCall(result: ToolCallResolution): Promise<Run> {
    return (await this.#open()).turnWaits.resolveToolCall(result);
  }

  async cancel(runId?: string): Promise<CancelResponse> {
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

  /** Waits until the turn is over, or waits for a person. */
  async waitForOutcome(runId: string): Promise<{ outcome: Outcome } | { waits: PersonWaits }> {
    const { store, queue, name } = await this.#open();
    if (!store.turns.get(runId)) throw fail("not_found", "Turn not found.");
    const outcome = await queue.waitForOutcome(runId);
    return outcome ? { outcome } : { waits: listPersonWaits(store, name) };
  }

  /** Returns every tool of the agent, and where it comes from. */
  async listTools(): Promise<AgentTool[]> {
    const { resolver, registration, redactor } = await this.#open();
    const tools = await resolver.listTools(registration.get());
    return redactor.redactValue(
      tools.map(({ tool: { name, aliases = [], description }, source, replaces, isOffered }) => ({
        name,
        ...(aliases.length > 0 ? { aliases: [...aliases] } : {}),
        description,
        source,
        ...(replaces === undefined ? {} : { replaces }),
        offered: isOffered,
      })),
    );
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

  async followEvents(
    after: number | undefined,
    progress: boolean,
    credentials?: Credential[],
  ): Promise<ReadableStream<Uint8Array>> {
    const { store, broadcaster } = await this.#open();
    return this.#endWith(credentials, (onEnd) => followEvents(store, broadcaster, after, progress, onEnd));
  }

  async listMessages(query: MessageQuery): Promise<{ messages: Message[]; next?: string }> {
    const { store, registration } = await this.#open();
    const page = store.messages.page(query);
    const { assignment } = registration.get();
    return assignment ? { ...page, messages: page.messages.map((message) => addOrigin(message, assignment)) } : page;
  }

  async clear(by: string): Promise<void> {
    const { store, broadcaster, queue, resolver, features, subagents, schedules } = await this.#open();
    if (queue.isBusy || store.turns.getPaused()) {
      throw fail("conflict", "A turn is running. Cancel it, or wait until it is over.");
    }
    await schedules.storeOutcomes();
    await subagents.removeAll();
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
    const shared = (await resolver.isMetered()) ? await agency().usage.listBudgetStatuses() : [];
    return { ...createUsage(store, days), budget: [...listAgentBudgetStatuses(store, budget), ...shared] };
  }

  /** Returns an `AgentExport` as text, because RPC values are limited in size. */
  async export(): Promise<ReadableStream<Uint8Array>> {
    return openExport(await this.#open());
  }

  async readBlob(hash: string): Promise<{ mediaType: string; data: Uint8Array } | undefined> {
    const { store, blobs } = await this.#open();
    const mediaType = store.blobs.getMediaType(hash);
    const data = mediaType ? await blobs.get(hash) : undefined;
    return mediaType && data ? { mediaType, data } : undefined;
  }

  /** Ends a stream when one of the credentials of its reader does. */
  #endWith(credentials: Credential[] = [], open: (onEnd: () => void) => EventStream): ReadableStream<Uint8Array> {
    let release: (() => void) | undefined;
    const stream = open(() => release?.());
    if (!stream.isEnded()) release = this.#credentialWatch.watchStream(credentials, () => stream.end());
    return stream.body;
  }
}

async function checkProps({ resolver, registration }: AgentParts, { props }: Invoke): Promise<void> {
  if (props) await resolver.check(registration.get(), parseProps(props));
}

/** Says which sub-agent a message belongs to, and which message of its parent delegated to it. */
function addOrigin(message: Message, { facetName, parentMessageId }: Assignment): Message {
  return { ...message, facetName, ...(parentMessageId === undefined ? {} : { parentMessageId }) };
}

function toLifecycleResponse({ status, queued }: LifecycleResponse): LifecycleResponse {
  return { status, queued };
}
