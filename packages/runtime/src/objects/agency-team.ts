import {
  type AgencySettings,
  type ChannelMessage,
  defaultChannel,
  fail,
  type InboxAck,
  type InboxChange,
  type InboxDefer,
  type NewChannelMessage,
  type PostedMessage,
  type TeamAgent,
} from "@thinkery/sdk";
import { findMentions, findNearest, type Names } from "@thinkery/sdk/internal";
import type { Actor } from "../agency/actor.ts";
import { type AgentActivity, noActivity } from "../agency/team/agent-activity.ts";
import { Channels } from "../agency/team/channels.ts";
import type { ContextStore, DeliveryRow, MessageRow } from "../agency/team/context-store.ts";
import { Deliveries, type DeliveryReport } from "../agency/team/deliveries.ts";
import { Inboxes } from "../agency/team/inboxes.ts";
import { LoopGuard } from "../agency/team/loop-guard.ts";
import { formatMessageId } from "../agency/team/message-id.ts";
import { SqlContextStore } from "../agency/team/sql-context-store.ts";
import type { AgencyContext, AgencyFeature } from "./agency-feature.ts";
import type { AgencyResources } from "./agency-resources.ts";
import type { AgencyTasks } from "./agency-tasks.ts";
import { RepeatableWork } from "./subagents/repeatable-work.ts";
import { TeamApi } from "./team-api.ts";

export interface TeamListener {
  onMessage(message: ChannelMessage): void;
  onSettled(report: DeliveryReport): void;
  onAgent(describe: () => TeamAgent): void;
  /** Called when messages were given up: those of a turn, or because nobody makes progress. */
  onGivenUp(agent: string, reason: "given_up" | "no_progress", message: string): void;
}

interface TeamOptions extends AgencyContext {
  resources: AgencyResources;
  tasks: AgencyTasks;
  getSettings(): AgencySettings;
  /** Whether somebody of this name may use the agency. */
  hasPerson(name: string): boolean;
  /** Returns what an agent is for. */
  getRole(agent: string): string | undefined;
  /** Whether nothing is delivered for now, because the workflow is stopped. */
  isHeld(): boolean;
  listener(): TeamListener;
}

/** A crash between a message and its delivery leaves it undelivered for this long. */
const recoveryMs = 5000;
const maxNoteChars = 500;
/** To ask an agent wakes it. */
const maxConcurrentQuestions = 16;

/** What the members of an agency write to each other, and the turns in which agents handle it. */
export class AgencyTeam implements AgencyFeature {
  readonly api: TeamApi;
  readonly channels: Channels;
  readonly inboxes: Inboxes;
  readonly #options: TeamOptions;
  readonly #store: ContextStore;
  readonly #names: Names;
  readonly #deliveries: Deliveries;
  readonly #guard: LoopGuard;
  readonly #clearing = new RepeatableWork(() => this.channels.clear());
  /** What the agents last said they do. Asked again after the memory was lost. */
  readonly #activities = new Map<string, AgentActivity>();

  constructor(options: TeamOptions) {
    const { storage, key: owner, agents, resources, getSettings, open, redactor, publish } = options;
    this.#options = options;
    this.#store = new SqlContextStore(storage);
    this.api = new TeamApi(async () => {
      await open();
      return this;
    });
    this.#names = {
      findAgent: (name) => agents.findName(name),
      hasPerson: (name) => options.hasPerson(name),
      listAgents: () => agents.listReadyNames(),
    };
    this.#guard = new LoopGuard({
      store: this.#store,
      getMaxTurns: () => getSettings().maxTurnsWithoutProgress,
      listAgents: () => agents.listNames(),
    });
    this.inboxes = new Inboxes({
      store: this.#store,
      owner,
      onItem: (describe) =>
        publish(() => {
          const item = describe();
          // With its counts.
          if (item) publish(() => ({ type: "agent", agent: this.#describe(item.agent) }));
          return item && { type: "inbox", item };
        }),
    });
    this.channels = new Channels({
      store: this.#store,
      owner,
      names: this.#names,
      storeText: (text, createdBy) => resources.store(text, createdBy),
      redact: (text) => redactor.redact(text),
      deliver: (message, recipients) => this.#addToInboxes(message, recipients),
      onMessage: (message) => {
        publish(() => ({ type: "message", message }));
        options.listener().onMessage(message);
      },
      onChannel: (channel) => publish(() => ({ type: "channel", channel })),
    });
    this.#deliveries = new Deliveries({
      store: this.#store,
      inboxes: this.inboxes,
      owner,
      getSettings,
      isHeld: () => options.isHeld(),
      hasAgent: (name) => agents.findName(name) !== undefined,
      send: (delivery) => options.getThink(delivery.agent).team.deliver(delivery),
      onGivenUp: ({ agent, message }, { channel, number, thread }, reason) => {
        const text = `${agent} could not handle ${formatMessageId(message)}, and it was given up: ${reason}`;
        this.channels.postNotice(channel, text, { thread: thread ?? number });
        options.listener().onGivenUp(agent, "given_up", text);
      },
    });
  }

  /** Whether an agent has written, or was written to. */
  includes(agent: string): boolean {
    return this.#store.findAgent(agent) !== undefined;
  }

  /** Whether nothing is left to handle. */
  get isQuiet(): boolean {
    return !this.#store.hasOpenItems() && this.#store.listDeliveries().length === 0;
  }

  /** Returns what an agent is for. */
  getRole(agent: string): string | undefined {
    return this.#options.getRole(agent);
  }

  getAgentName(name: string): string {
    const { agents } = this.#options;
    const agent = agents.findName(name);
    if (agent !== undefined) return agent;
    const suggestion = findNearest(name, agents.listNames());
    const hint = suggestion ? ` Did you mean “${suggestion}”?` : "";
    throw fail("not_found", `Agent “${name}” not found.${hint}`, suggestion ? { suggestion } : undefined);
  }

  async post(channel: string, message: NewChannelMessage, by: Actor): Promise<PostedMessage> {
    const { disk, updateTimer } = this.#options;
    // Before it is stored: a crash must not leave it without anything to wake the agency.
    await updateTimer(Date.now() + recoveryMs);
    if (by.kind === "agent" && !this.includes(by.name)) {
      this.#store.putAgent(by.name, {});
      this.#options.onAgentsChange();
    }
    await disk.refresh();
    disk.check(message.content.length);
    const posted = await this.channels.post(channel, message, by);
    if (by.kind === "user") this.#guard.reset();
    if (posted.to.length > 0) this.deliverSoon();
    return posted;
  }

  /** Whether a text mentions any agent. */
  mentionsAnyone(text: string): boolean {
    return findMentions(text, this.#names).agents.length > 0;
  }

  async deleteChannel(name: string): Promise<void> {
    // Before it is hidden: a crash must not leave the rest of it for good.
    await this.#options.updateTimer(Date.now() + recoveryMs);
    const hidden = this.channels.hide(name);
    this.#options.publish(() => ({ type: "channel-removed", name: hidden }));
    await this.#clearing.run();
  }

  ack(agent: string, ack: InboxAck): Promise<InboxChange> {
    return this.inboxes.ack(agent, ack);
  }

  async defer(agent: string, defer: InboxDefer): Promise<InboxChange> {
    await this.#options.updateTimer(Date.now() + recoveryMs);
    const changed = this.inboxes.defer(agent, defer, Date.now());
    await this.#options.updateTimer();
    return changed;
  }

  async retry(agent: string, ids: string[]): Promise<InboxChange> {
    await this.#options.updateTimer(Date.now() + recoveryMs);
    const changed = this.inboxes.retry(agent, ids);
    this.#guard.reset();
    this.deliverSoon();
    return changed;
  }

  setNote(agent: string, note: string, task: string | undefined): void {
    // Redacted before it is cut, which could leave the beginning of a secret.
    const shorten = (text = "") => this.#options.redactor.redactLog(text).trim().slice(0, maxNoteChars) || null;
    this.#store.putAgent(agent, { note: shorten(note), task: shorten(task) });
    this.#publishAgent(agent);
  }

  deliverSoon(): void {
    const { waitUntil, updateTimer } = this.#options;
    const work = this.#deliveries.deliver().then(() => updateTimer());
    waitUntil(work.catch((error: unknown) => console.error("the inboxes could not be delivered", error)));
  }

  async settle(report: DeliveryReport): Promise<void> {
    const { tasks, listener, updateTimer } = this.#options;
    // Before it is stored: a crash must not leave what becomes due by it without anything to wake the agency.
    await updateTimer(Date.now() + recoveryMs);
    const delivery = this.#store.findDelivery(report.delivery);
    if (!delivery || !this.#deliveries.settle(report)) return;
    if (report.status === "completed") this.#noteProgress(report, delivery);
    tasks.renewClaims(report.agent);
    listener().onSettled(report);
    this.deliverSoon();
  }

  noteActivity(agent: string, activity: AgentActivity): void {
    const { agents, tasks } = this.#options;
    const name = agents.findName(agent);
    if (name === undefined) return;
    const before = this.#activities.get(name);
    this.#activities.set(name, activity);
    if (isBusy(activity)) tasks.renewClaims(name);
    if (activity.status !== "stopped" && before?.status !== activity.status) {
      this.#deliveries.resume(name);
      this.deliverSoon();
    }
    this.#publishAgent(name);
  }

  /** Returns agents with what they do; all by default. Those that are no part of the team are not asked. */
  async describeAgents(listed?: readonly string[]): Promise<TeamAgent[]> {
    const { agents } = this.#options;
    const names = listed ?? agents.listReadyNames();
    const asked = names.filter((name) => this.includes(name) && !this.#activities.has(name));
    for (let from = 0; from < asked.length; from += maxConcurrentQuestions)
      await Promise.all(asked.slice(from, from + maxConcurrentQuestions).map((name) => this.#tryGetActivity(name)));
    return names.map((name) => this.#describe(name));
  }

  /** Returns what an agent does; asks it unless that is known. */
  async getActivity(agent: string, isFresh = false): Promise<AgentActivity> {
    const known = this.#activities.get(agent);
    if (known && !isFresh) return known;
    const activity = await this.#options.getThink(agent).team.getActivity();
    this.#activities.set(agent, activity);
    return activity;
  }

  /** An agent that cannot be asked, perhaps because it was just deleted, does nothing as far as others know. */
  async #tryGetActivity(agent: string): Promise<void> {
    await this.getActivity(agent).catch((error: unknown) => console.error("an agent could not be asked", error));
  }

  /** Whether an agent works, itself or by others, or waits for a person who lets it go on. */
  async isBusy(agent: string): Promise<boolean> {
    return isBusy(await this.getActivity(agent, true));
  }

  /** Tells an agent something in its agency's default channel. Called in a transaction, it is stored with that. */
  notify(agent: string, text: string): void {
    this.channels.postNotice(defaultChannel, text, { to: [agent] });
    this.deliverSoon();
  }

  /** Delivers again after everything was held. */
  resumeAll(): void {
    for (const name of this.#options.agents.listNames()) this.#deliveries.resume(name);
    this.deliverSoon();
  }

  wake(): void {
    if (!this.isQuiet) this.deliverSoon();
    if (this.#store.listHiddenChannels().length === 0) return;
    const logError = (error: unknown) => console.error("a channel could not be deleted; it is tried again", error);
    this.#options.waitUntil(this.#clearing.run().catch(logError));
  }

  forgetAgent(name: string): void {
    this.#activities.delete(name);
    this.#store.removeAgent(name);
    this.#options.publish(() => ({ type: "agent-removed", name }));
  }

  nextDueAt(): number | undefined {
    return this.#deliveries.getNextDueAt();
  }

  runDue(): Promise<void> {
    return this.#deliveries.deliver();
  }

  #addToInboxes(message: MessageRow, recipients: readonly string[]): void {
    const isNew = recipients.some((agent) => !this.includes(agent));
    for (const agent of recipients) {
      const isBlocked = message.fromKind === "agent" && this.#guard.isTripped(agent);
      this.inboxes.add(message, agent, isBlocked ? "The agents make no progress." : undefined);
    }
    if (isNew) this.#options.onAgentsChange();
  }

  /** Counts turns in which an agent only wrote to others, and says when it no longer hears them. */
  #noteProgress({ agent, hasProgress }: DeliveryReport, { messages: [first] }: DeliveryRow): void {
    const wasTripped = this.#guard.isTripped(agent);
    this.#guard.noteTurn(agent, hasProgress);
    if (wasTripped || !this.#guard.isTripped(agent)) return;
    const { maxTurnsWithoutProgress } = this.#options.getSettings();
    const text = `${agent} has had ${maxTurnsWithoutProgress} turns in a row in which it only wrote to others. Messages of agents no longer wake it until somebody gets something done, or a person writes.`;
    const message = first === undefined ? undefined : this.#store.findMessage(first);
    this.channels.postNotice(message?.channel ?? "", text);
    this.#options.listener().onGivenUp(agent, "no_progress", text);
  }

  #publishAgent(name: string): void {
    this.#options.publish(() => ({ type: "agent", agent: this.#describe(name) }));
    this.#options.listener().onAgent(() => this.#describe(name));
  }

  #describe(name: string): TeamAgent {
    const { note, task } = this.#store.findAgent(name) ?? {};
    const role = this.#options.getRole(name);
    return {
      name,
      ...(role ? { role } : {}),
      ...(this.#activities.get(name) ?? noActivity),
      ...(note === undefined ? {} : { note }),
      ...(task === undefined ? {} : { task }),
      inbox: this.inboxes.count(name),
    };
  }
}

const isBusy = ({ status }: AgentActivity) => status === "working" || status === "waiting";
