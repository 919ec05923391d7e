import {
  type Agent as AgentInfo,
  type AgentStatus,
  type Blueprint,
  parseProps,
  type ModelRoles,
  type RoleEfforts,
  type PersonWait,
  type Props,
  type Tool,
} from "@thinkery/sdk";
import type { Connection, ConnectionContext } from "agents";
import { createSlotClient } from "../sandbox/open.ts";
import type { UsageReport } from "../store/usage-totals.ts";
import type { System } from "../system/system.ts";
import type { SpendingStatement } from "../turn/budget/child-leases.ts";
import { resolveAddress } from "./agent-address.ts";
import { AppApi } from "./app-api.ts";
import { type AgentParts, assembleAgent } from "./assemble-agent.ts";
import type { ParentStub } from "./assignment-feature.ts";
import { BaseObject } from "./base-object.ts";
import { checkDue } from "./check-due.ts";
import { CodeApi } from "./code-api.ts";
import { ConversationApi } from "./conversation-api.ts";
import type { Credential } from "./credential-watch.ts";
import type { Env } from "./env.ts";
import { callFeature, type FeatureCall } from "./feature-call.ts";
import { FilesApi } from "./files-api.ts";
import { hasLiveState, isLive, type LiveSockets } from "./live-sockets.ts";
import { runHeartbeat } from "./run-heartbeat.ts";
import { SchedulesApi } from "./schedules-api.ts";
import { createStatus } from "./snapshot.ts";
import type { Sockets } from "./sockets.ts";
import { StorageApi } from "./storage-api.ts";
import { SubagentsApi } from "./subagents-api.ts";
import type { AssignmentReport, AssignmentRequest, AssignmentStatus, RelayedAction } from "./subagents/assignment.ts";
import type { ChildStub } from "./subagents/child-client.ts";
import type { Reporter } from "./subagents/find-reporter.ts";
import type { LeaseResult, LeasingParent } from "./subagents/lease-client.ts";
import { TasksApi } from "./tasks-api.ts";
import { TeamMemberApi } from "./team-member-api.ts";
import { WaitsApi } from "./waits-api.ts";
import { WebhooksApi } from "./webhooks-api.ts";
import { WorkspaceApi } from "./workspace-api.ts";

/**
 * A durable agent: one conversation, one workspace. `assembleAgent` creates its parts; this class adds the life cycle,
 * the sockets, and the API for other objects.
 */
export abstract class Think extends BaseObject<AgentStatus> {
  override initialState: AgentStatus = { status: "idle", run: { runId: "", status: "idle", step: 0 }, queued: 0 };
  #parts: AgentParts | undefined;
  readonly #conversation = new ConversationApi(() => this.#open(), this.credentialWatch);
  readonly #files = new FilesApi(
    async () => (await this.#openFiles()).workspace,
    async () => (await this.#open()).merges,
  );
  readonly #workspace = new WorkspaceApi(async () => (await this.#openFiles()).port);
  readonly #app = new AppApi(async () => (await this.#open()).app);
  readonly #code = new CodeApi(async () => (await this.#open()).code);
  readonly #subagents = new SubagentsApi(() => this.#open());
  readonly #taskGraph = new TasksApi(() => this.#open());
  readonly #waits = new WaitsApi(() => this.#open());
  readonly #schedules = new SchedulesApi(async () => (await this.#open()).schedules.book);
  readonly #webhooks = new WebhooksApi(async () => (await this.#open()).receiver);
  readonly #team = new TeamMemberApi(() => this.#open(), this.credentialWatch);
  readonly #storage = new StorageApi({
    open: () => this.#open(),
    listSubAgents: () => this.#listSubAgents(),
    openSubAgent: async (name) =>
      // The SDK's stub type has methods only, not the features behind getters.
      ((await this.dynamicAgents.get(this.#class, name)) as unknown as Pick<Think, "storage">).storage,
  });

  constructor(ctx: DurableObjectState, env: Env & Cloudflare.Env) {
    super(ctx, env, "Think");
  }

  /** The tools, middleware and blueprints available to agents. */
  protected abstract getSystem(): System;

  /** Class layer: instructions for all agents of a product, after those of their blueprints. */
  protected getAdditionalInstructions(): string {
    return "";
  }

  /** Class layer: tools for all agents of a product, in addition to those selected by tags. */
  protected getCustomTools(): readonly Tool[] {
    return [];
  }

  /** Class layer: a product's models, unless blueprint or props override them. */
  protected getModelConfig(): Partial<ModelRoles> {
    return {};
  }

  /** Class layer: how much a product's models think, unless blueprint or props override it. */
  protected getReasoningConfig(): RoleEfforts {
    return {};
  }

  get conversation(): ConversationApi {
    return this.#conversation;
  }

  get files(): FilesApi {
    return this.#files;
  }

  get workspace(): WorkspaceApi {
    return this.#workspace;
  }

  get app(): AppApi {
    return this.#app;
  }

  get code(): CodeApi {
    return this.#code;
  }

  get subagents(): SubagentsApi {
    return this.#subagents;
  }

  /** `tasks` is a property of the Agents SDK. */
  get taskGraph(): TasksApi {
    return this.#taskGraph;
  }

  get waits(): WaitsApi {
    return this.#waits;
  }

  get schedules(): SchedulesApi {
    return this.#schedules;
  }

  get webhooks(): WebhooksApi {
    return this.#webhooks;
  }

  get team(): TeamMemberApi {
    return this.#team;
  }

  get storage(): StorageApi {
    return this.#storage;
  }

  /**
   * Not a method of `app`: workerd never delivers a request that is forwarded after arriving through a property's RPC
   * target.
   */
  async fetchApp(request: Request): Promise<Response> {
    return (await this.#open()).app.fetch(request);
  }

  /** Called by the agency, possibly twice: a crash may have happened between its write and ours. */
  async register(info: AgentInfo, props?: Props, blueprint?: Blueprint): Promise<void> {
    await this.ensureReady();
    const { store, recorder, registration, resolver, name } = this.#agent;
    const parsedProps = props && parseProps(props);
    if (store.log.last === 0) {
      registration.put(info, parsedProps);
      recorder.record({ type: "thread.created", data: { threadId: name } });
    }
    // Uses the blueprint that the agency passed: it may be unable to respond before this call returns.
    if (parsedProps && blueprint) await resolver.check({ agent: info, props: {} }, parsedProps, blueprint);
  }

  async describe(): Promise<AgentInfo> {
    return (await this.#open()).registration.get().agent;
  }

  /** Stops the agent and its sub-agents before they are erased, and returns their total usage. Idempotent. */
  async retire(): Promise<UsageReport[]> {
    await this.ensureReady();
    const { queue, store, budgetClient, features, subagents, timer, code } = this.#agent;
    queue.halt();
    await code.shutDown();
    timer.halt();
    for (const feature of features) feature.halt?.();
    const reports = await subagents.retire();
    return store.log.last > 0 ? [budgetClient.createFullReport(), ...reports] : reports;
  }

  /** Deletes everything, even if the agent cannot be opened. Idempotent. */
  async erase(): Promise<void> {
    this.#parts?.queue.halt();
    this.#parts?.timer.halt();
    for (const feature of this.#parts?.features ?? []) feature.halt?.();
    await createSlotClient(this.env)?.forget(this.name);
    for (const name of this.#listSubAgents().subAgents) await this.dynamicAgents.delete(this.#class, name);
    await this.destroy();
  }

  /** Called by the parent of a sub-agent, possibly twice: creates it and begins its work. */
  async startAssignment(request: AssignmentRequest): Promise<AssignmentStatus> {
    await this.ensureReady();
    return this.#agent.assignment.start(request);
  }

  /** Called by the parent of a sub-agent that is no longer needed. Returns what it has spent. */
  async cancelAssignment(token: string): Promise<SpendingStatement | undefined> {
    const { assignment, subagents, lease } = await this.#open();
    assignment.cancel(token);
    await subagents.stopCancelled();
    const statement = lease?.createStatement();
    if (statement) lease?.noteTold(statement);
    return statement;
  }

  async describeAssignment(): Promise<AssignmentStatus> {
    return (await this.#open()).assignment.describe();
  }

  /** Called by a sub-agent, until it succeeds. */
  async receiveReport(report: AssignmentReport): Promise<void> {
    await (await this.#open()).subagents.reports.receiveReport(report);
  }

  async updateLease(...[sender, statement, call]: Parameters<LeasingParent["updateLease"]>): Promise<LeaseResult> {
    return (await this.#open()).subagents.leases.update(sender, statement, call);
  }

  async receiveActions(sender: Reporter, actions: RelayedAction[]): Promise<{ number: number; isOver: boolean }> {
    return (await this.#open()).subagents.reports.receiveActions(sender, actions);
  }

  /** Called by a sub-agent that streams. */
  async relayFrames(...[sender, frames]: Parameters<ParentStub["relayFrames"]>): Promise<{ hasListeners: boolean }> {
    return (await this.#open()).subagents.reports.relayFrames(sender, frames);
  }

  /** Called by a sub-agent, until it succeeds, when it begins to wait for a person or goes on. */
  async receiveWait(sender: Reporter, waitingFor: PersonWait | undefined): Promise<{ isOver: boolean }> {
    return (await this.#open()).subagents.reports.receiveWait(sender, waitingFor);
  }

  /** Calls a feature of a sub-agent, which each agent on the way must have. Never called with names from a client. */
  async callChild([name, ...rest]: string[], call: FeatureCall, credentials: Credential[] = []): Promise<unknown> {
    const { children, subagents } = await this.#open();
    if (name === undefined) return callFeature(this, call);
    await subagents.ensureStarted(name);
    const result = await children.forward(name, rest, call);
    return credentials.length > 0 && result instanceof ReadableStream
      ? this.credentialWatch.endStream(credentials, result as ReadableStream<Uint8Array>)
      : result;
  }

  /** Called by the schedule when something is due. */
  checkDue(at: number): Promise<void> {
    const open = async () => {
      await this.ensureReady();
      return this.#agent.timer;
    };
    return checkDue(at, { open, schedule: (next) => this.#scheduleDue(next) });
  }

  /** Called by the alarm while a turn runs, and once after it: resumes what a crash interrupted, ends what is stuck. */
  async heartbeat(beat: number): Promise<void> {
    await this.__unsafe_ensureInitialized();
    const { heartbeat } = this.#agent;
    if (!heartbeat.take(beat)) return;
    await this.ensureReady().catch((error: unknown) => {
      heartbeat.stop();
      throw error;
    });
    await runHeartbeat(this.#agent);
  }

  override onStart(): void {
    this.#parts = assembleAgent({
      storage: this.ctx.storage,
      env: this.env,
      address: resolveAddress(this.selfPath),
      system: this.getSystem(),
      layer: {
        instructions: () => this.getAdditionalInstructions(),
        tools: () => this.getCustomTools(),
        models: () => this.getModelConfig(),
        reasoning: () => this.getReasoningConfig(),
      },
      schedule: (seconds, beat) => this.schedule(seconds, "heartbeat", beat, { idempotent: true }),
      scheduleDue: (at) => this.#scheduleDue(at),
      facets: {
        has: (name) => this.dynamicAgents.has(this.#class.name, name),
        list: () => this.#listSubAgents().subAgents,
        // The SDK's stub type does not know the parameters of our methods.
        open: async (name) => (await this.dynamicAgents.get(this.#class, name)) as unknown as ChildStub,
        delete: (name) => this.dynamicAgents.delete(this.#class, name),
      },
      openParent: async () => (await this.parentAgent(this.#class)) as unknown as ParentStub,
      waitUntil: (work) => this.ctx.waitUntil(work),
      onChange: () => this.#syncState(),
    });
  }

  protected override wake(): void {
    const { features, sockets, queue, timer } = this.#agent;
    const connections = [...this.getConnections()];
    for (const feature of features) feature.wake?.(connections);
    sockets.restore(connections.filter((connection) => !hasLiveState(connection)));
    queue.wake();
    timer.update().catch((error: unknown) => console.error("the next check could not be scheduled", error));
  }

  override async onBeforeSubAgent(request: Request, child: { className: string; name: string }) {
    await this.ensureReady();
    await this.#agent.subagents.ensureStarted(child.name);
    return super.onBeforeSubAgent(request, child);
  }

  override shouldSendProtocolMessages(_connection: Connection, { request }: ConnectionContext): boolean {
    if (request.headers.get("x-thinkery-socket") === "1" || isLive(request)) return false;
    this.#syncState(true);
    return true;
  }

  override async onConnect(connection: Connection, { request }: ConnectionContext): Promise<void> {
    const agent = await this.#open();
    if (isLive(request)) await agent.disk.refresh();
    (isLive(request) ? agent.files.live : agent.sockets).connect(connection, request);
  }

  override onClose(connection: Connection): void {
    this.#getSockets(connection).disconnect(connection);
  }

  override async onMessage(connection: Connection, message: string | ArrayBuffer): Promise<void> {
    await this.ensureReady();
    await this.#getSockets(connection).receive(connection, message);
  }

  async #scheduleDue(at: number): Promise<void> {
    await this.schedule(new Date(at), "checkDue", at, { idempotent: true });
  }

  get #class() {
    return this.constructor as new (ctx: DurableObjectState, env: Env & Cloudflare.Env) => Think;
  }

  #listSubAgents(): { subAgents: string[]; isComplete: boolean } {
    const [all, own] = [this.dynamicAgents.list(), this.dynamicAgents.list(this.#class)];
    return { subAgents: own.map(({ name }) => name), isComplete: own.length === all.length };
  }

  #getSockets(connection: Connection): LiveSockets | Sockets {
    return hasLiveState(connection) ? this.#agent.files.live : this.#agent.sockets;
  }

  /** Wakes the agent. Throws if it does not exist. */
  async #open(): Promise<AgentParts> {
    await this.ensureReady();
    const { heartbeat, assignment } = this.#agent;
    this.#agent.registration.get();
    // The caller may let a sub-agent go on that waits for a person. From then on a crash must not leave it asleep.
    if (!heartbeat.isRunning && !assignment.isReported) await heartbeat.begin();
    return this.#agent;
  }

  /** Wakes the agent, and reads what its user may still store. */
  async #openFiles(): Promise<AgentParts["files"]> {
    const { disk, files } = await this.#open();
    await disk.refresh();
    return files;
  }

  get #agent(): AgentParts {
    if (!this.#parts) throw new Error("the object has not started");
    return this.#parts;
  }

  /** The SDK stores and sends the state. That costs a write, so it is only done for clients that speak its protocol. */
  #syncState(isForced = false): void {
    const { sockets, store, name } = this.#agent;
    if (!isForced && !sockets.hasProtocolClients) return;
    // As long as none is stored, reading the state stores and sends the initial one.
    const status = (this.initialState = createStatus(store, name));
    if (JSON.stringify(status) !== JSON.stringify(this.state)) this.setState(status);
  }
}
