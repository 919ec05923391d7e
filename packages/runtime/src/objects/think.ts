import {
  type Action,
  type ActionQuery,
  type Admission,
  type Agent as AgentInfo,
  type AgentEvent,
  type AgentState,
  type AgentStatus,
  type AgentUsage,
  type Blueprint,
  type EventQuery,
  fail,
  type Invoke,
  type Message,
  type MessageQuery,
  type Outcome,
  checkedProps,
  type ModelRoles,
  type Props,
  type Run,
  type Sender,
  type Standing,
  type Tool,
  type ToolReport,
} from "@thinkery/sdk";
import type { Connection, ConnectionContext } from "agents";
import { redactorOf } from "../model/redactor.ts";
import { openSandbox, slotsOf } from "../sandbox/open.ts";
import type { Statement } from "../store/accounts.ts";
import { AgentStore } from "../store/agent-store.ts";
import type { Blobs } from "../store/blobs/blobs.ts";
import { openBlobs } from "../store/blobs/open.ts";
import { migrate } from "../store/migrate.ts";
import { thinkMigrations } from "../store/schema/think.ts";
import type { System } from "../system/system.ts";
import { inputOf } from "../turn/input.ts";
import { limitsFrom } from "../turn/limits.ts";
import { agentStandings } from "../turn/purse.ts";
import { TurnQueue } from "../turn/queue.ts";
import { Recorder } from "../turn/recorder.ts";
import { runOf } from "../store/turns.ts";
import { workspaceLimitsOf } from "../workspace/quota.ts";
import { Workspace } from "../workspace/workspace.ts";
import { AgentResolver, type Registered } from "./agent-resolver.ts";
import { AgentApp } from "./app.ts";
import { Audience } from "./audience.ts";
import { Books } from "./books.ts";
import { converse, followEvents } from "./broadcasts.ts";
import type { Env } from "./env.ts";
import { exported, statusOf, wholeState, wholeUsage } from "./glance.ts";
import { isLive, LiveSockets } from "./live-sockets.ts";
import { Pulse } from "./pulse.ts";
import { Sockets } from "./sockets.ts";
import { WithApp } from "./with-app.ts";

/** A durable agent: one conversation, one workspace. Named `{agency}~{agent}`. */
export abstract class Think extends WithApp<AgentStatus> {
  override initialState: AgentStatus = { status: "idle", run: { runId: "", status: "idle", step: 0 }, queued: 0 };
  readonly #store: AgentStore;
  readonly #blobs: Blobs;
  readonly #audience: Audience;
  readonly #recorder: Recorder;
  readonly #queue: TurnQueue;
  readonly #books: Books;
  readonly #resolver: AgentResolver;
  readonly #sockets: Sockets;
  readonly #live: LiveSockets;
  readonly #pulse: Pulse;
  protected override readonly app: AgentApp;
  protected override readonly workspace: Workspace;
  #registration: Registered | undefined;

  constructor(ctx: DurableObjectState, env: Env & Cloudflare.Env) {
    super(ctx, env);
    migrate(ctx.storage, thinkMigrations);
    const agent = ctx.id.name ?? "";
    const limits = limitsFrom(env.TURN_LIMITS);
    this.#store = new AgentStore(ctx.storage, agent, redactorOf(env));
    this.#blobs = openBlobs(env);
    this.#audience = new Audience(this.#store, () => this.#syncState());
    this.#recorder = new Recorder(this.#store, this.#audience);
    this.workspace = new Workspace({
      storage: ctx.storage,
      blobs: this.#blobs,
      limits: workspaceLimitsOf(env),
      record: (event) => this.#recorder.record(event),
    });
    this.#live = new LiveSockets(this.workspace, ctx.storage);
    this.#pulse = new Pulse({
      seconds: limits.heartbeatSeconds,
      schedule: (seconds, beat) => this.schedule(seconds, "heartbeat", beat, { idempotent: true }),
    });
    this.#books = new Books({
      env,
      store: this.#store,
      agent: () => this.#registered().agent,
      metered: () => this.#resolver.metered(),
    });
    this.#resolver = new AgentResolver({
      env,
      object: agent,
      books: this.#books,
      system: this.getSystem(),
      store: this.#store,
      recorder: this.#recorder,
      workspace: this.workspace,
      layer: {
        instructions: () => this.getAdditionalInstructions(),
        tools: () => this.getCustomTools(),
        models: () => this.getModelConfig(),
      },
    });
    this.#queue = new TurnQueue({
      agent,
      store: this.#store,
      blobs: this.#blobs,
      recorder: this.#recorder,
      boot: env.BOOT ?? { id: "", after: "stop" },
      limits,
      resolve: (turn) => this.#resolver.resolve(this.#registered(), turn.props),
      onBusy: () => this.#pulse.begin(),
      onRest: () => this.#books.rest(),
    });
    this.app = new AgentApp({ object: agent, store: this.#store, blobs: this.#blobs, recorder: this.#recorder, sandbox: () => openSandbox(env) });
    this.#sockets = new Sockets({
      store: this.#store,
      blobs: this.#blobs,
      audience: this.#audience,
      recorder: this.#recorder,
      queue: this.#queue,
    });
  }

  /** What agents here are made of. */
  protected abstract getSystem(): System;

  /** The class layer: what a product says to all its agents, after their blueprints. */
  protected getAdditionalInstructions(): string {
    return "";
  }

  /** The class layer: tools of a product, beside the ones its agents have by their tags. */
  protected getCustomTools(): readonly Tool[] {
    return [];
  }

  /** The class layer: a product's models, where neither blueprint nor props say otherwise. */
  protected getModelConfig(): Partial<ModelRoles> {
    return {};
  }

  /** Told by the agency, possibly twice: a crash may have come between its row and ours. */
  async register(agent: AgentInfo, props?: Props, blueprint?: Blueprint): Promise<void> {
    await this.ready();
    const given = props && checkedProps(props);
    if (this.#store.log.last === 0) {
      this.ctx.storage.sql.exec("INSERT INTO registration (only, agent, props) VALUES (1, ?, ?)", JSON.stringify(agent), given ? JSON.stringify(given) : null);
      this.#recorder.record({ type: "thread.created", data: { threadId: this.name } });
    }
    // With the blueprint that the agency brings: it may be unable to answer before it has told us.
    if (given && blueprint) await this.#resolver.check({ agent, props: {} }, given, blueprint);
  }

  async describe(): Promise<AgentInfo> {
    await this.ready();
    return this.#registered().agent;
  }

  /** Stops, and answers what it has spent in all, before it is erased. Safe to ask again. */
  async retire(): Promise<Statement | undefined> {
    await this.ready();
    this.#queue.halt();
    return this.#store.log.last > 0 ? this.#books.whole() : undefined;
  }

  /** Forgets everything. Safe to ask again. */
  async erase(): Promise<void> {
    this.#queue.halt();
    this.app.halt();
    await slotsOf(this.env)?.forget(this.name);
    await this.destroy();
  }

  async admit(invoke: Invoke, from: Sender): Promise<Admission> {
    await this.open();
    await this.#checkProps(invoke);
    return this.#queue.admit(await inputOf(invoke, from, this.#blobs));
  }

  /** The answer of a tool call that was deferred. */
  async report(report: ToolReport): Promise<Run> {
    await this.open();
    return this.#queue.report(report);
  }

  async cancel(runId?: string): Promise<{ runId?: string; status: Run["status"] }> {
    await this.open();
    const turn = this.#queue.cancel(runId, "canceled");
    if (!turn && runId) throw fail("not_found", "There is no such turn.");
    return turn ? { runId: turn.id, status: runOf(turn).status } : { status: "idle" };
  }

  async readState(): Promise<{ state: AgentState; run: Run }> {
    await this.open();
    const registered = this.#registered();
    const { tools, added } = await this.#resolver.preview(registered);
    return wholeState(this.#store, registered.agent, this.name, tools, added);
  }

  async listEvents({ after = 0, limit }: EventQuery): Promise<{ events: AgentEvent[]; next?: number }> {
    await this.open();
    const events = this.#store.log.read(after, limit);
    const last = events.at(-1)?.seq;
    return { events, ...(last !== undefined && last < this.#store.log.last ? { next: last } : {}) };
  }

  async listMessages(query: MessageQuery): Promise<{ messages: Message[]; next?: string }> {
    await this.open();
    return this.#store.messages.page(query);
  }

  async clearMessages(by: string): Promise<void> {
    await this.open();
    if (this.#queue.busy || this.#store.turns.paused()) throw fail("conflict", "A turn is running. Cancel it first, or wait until it is over.");
    this.#audience.recorded(this.#store.clear(by));
    this.#resolver.resetDriver();
    this.workspace.unsee();
  }

  async listActions(query: ActionQuery): Promise<{ actions: Action[]; next?: string }> {
    await this.open();
    return this.#store.actions.page(query);
  }

  async usage(days?: number): Promise<AgentUsage & { budget: Standing[] }> {
    await this.open();
    const registered = this.#registered();
    const budget = await this.#resolver.budget(registered);
    const wider = (await this.#resolver.metered()) ? await this.env.Agency.getByName(registered.agent.agency).standings() : [];
    return { ...wholeUsage(this.#store, days), budget: [...agentStandings(this.#store, budget), ...wider] };
  }

  /** An `AgentExport` as text: what a call between objects may carry as a value is limited. */
  async exportAgent(): Promise<ReadableStream<Uint8Array>> {
    await this.open();
    const whole = exported(this.#store, this.#registered().agent, this.name);
    return new Blob([JSON.stringify(whole)]).stream();
  }

  async readBlob(hash: string): Promise<{ mediaType: string; data: Uint8Array } | undefined> {
    await this.open();
    const mediaType = this.#store.blobs.mediaType(hash);
    const data = mediaType ? await this.#blobs.get(hash) : undefined;
    return mediaType && data ? { mediaType, data } : undefined;
  }

  async followEvents(after: number | undefined, progress: boolean): Promise<ReadableStream<Uint8Array>> {
    await this.open();
    return followEvents(this.#store, this.#audience, after, progress);
  }

  async converse(invoke: Invoke, from: Sender, agent: string): Promise<ReadableStream<Uint8Array>> {
    await this.open();
    await this.#checkProps(invoke);
    // Listening begins before the turn does, or its first words would be missed.
    const input = await inputOf(invoke, from, this.#blobs);
    return converse(this.#store, this.#audience, this.#recorder, agent, () => this.#queue.admit(input));
  }

  async outcomeOf(runId: string): Promise<Outcome> {
    await this.open();
    if (!this.#store.turns.get(runId)) throw fail("not_found", "There is no such turn.");
    return this.#queue.whenOver(runId);
  }

  /** Asked by the alarm while a turn runs, and once after it: takes up what a crash left open, ends what is stuck. */
  async heartbeat(beat: number): Promise<void> {
    if (!this.#pulse.take(beat)) return;
    await this.ready().catch((error: unknown) => {
      this.#pulse.stop();
      throw error;
    });
    this.#queue.beat(Date.now());
    this.#queue.wake();
    // One that was erased meanwhile has nothing more to say.
    const heard = this.#store.log.last === 0 || (await this.#books.beat(this.#queue.busy));
    // A turn may have begun while the agency was told.
    if (this.#queue.busy || !heard) await this.#pulse.arm();
    else this.#pulse.stop();
  }

  override shouldSendProtocolMessages(_connection: Connection, { request }: ConnectionContext): boolean {
    if (request.headers.get("x-thinkery-socket") === "1" || isLive(request)) return false;
    this.#syncState(true);
    return true;
  }

  override async onConnect(connection: Connection, { request }: ConnectionContext): Promise<void> {
    await this.open();
    (isLive(request) ? this.#live : this.#sockets).welcome(connection, request);
  }

  override onClose(connection: Connection): void {
    this.#socketsOf(connection).leave(connection);
  }

  override async onMessage(connection: Connection, message: string | ArrayBuffer): Promise<void> {
    await this.ready();
    await this.#socketsOf(connection).hear(connection, message);
  }

  #socketsOf(connection: Connection): LiveSockets | Sockets {
    return this.#live.has(connection) ? this.#live : this.#sockets;
  }

  protected override async settle(): Promise<void> {
    const connections = [...this.getConnections()];
    this.#live.restore(connections.filter((one) => this.#live.has(one)));
    this.#sockets.restore(connections.filter((one) => !this.#live.has(one)));
    this.#queue.wake();
  }

  #registered(): Registered {
    this.#registration ??= this.#readRegistration();
    return this.#registration;
  }

  #readRegistration(): Registered {
    const [row] = this.ctx.storage.sql.exec<{ agent: string; props: string | null }>("SELECT * FROM registration").toArray();
    if (!row) throw fail("not_found", "There is no such agent.");
    return { agent: JSON.parse(row.agent) as AgentInfo, props: row.props ? (JSON.parse(row.props) as Props) : {} };
  }

  async #checkProps({ props }: Invoke): Promise<void> {
    if (props) await this.#resolver.check(this.#registered(), checkedProps(props));
  }

  protected override async open(): Promise<void> {
    await this.ready();
    this.#registered();
  }

  /** The SDK keeps and sends the state; that costs a write, so it is done for clients that speak its protocol only. */
  #syncState(now = false): void {
    if (!now && !this.#sockets.speakProtocol) return;
    const status = statusOf(this.#store, this.name);
    if (JSON.stringify(status) !== JSON.stringify(this.state)) this.setState(status);
  }
}
