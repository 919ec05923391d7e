import {
  type Agent as AgentInfo,
  type AgentStatus,
  type Blueprint,
  parseProps,
  type ModelRoles,
  type Props,
  type Tool,
} from "@thinkery/sdk";
import type { Connection, ConnectionContext } from "agents";
import { createSlotClient } from "../sandbox/open.ts";
import type { UsageReport } from "../store/usage-totals.ts";
import type { System } from "../system/system.ts";
import { resolveAddress } from "./agent-address.ts";
import { AppApi } from "./app-api.ts";
import { type AgentParts, assembleAgent } from "./assemble-agent.ts";
import { BaseObject } from "./base-object.ts";
import { ConversationApi } from "./conversation-api.ts";
import { FilesApi } from "./files-api.ts";
import { isLive, type LiveSockets } from "./live-sockets.ts";
import { createStatus } from "./snapshot.ts";
import type { Sockets } from "./sockets.ts";
import { WorkspaceApi } from "./workspace-api.ts";

/**
 * A durable agent: one conversation, one workspace. `assembleAgent` says what it is made of; here is what an object adds
 * to that: its life, its sockets, and what other objects may ask of it.
 */
export abstract class Think extends BaseObject<AgentStatus> {
  override initialState: AgentStatus = { status: "idle", run: { runId: "", status: "idle", step: 0 }, queued: 0 };
  #parts: AgentParts | undefined;
  readonly #conversation = new ConversationApi(() => this.#open());
  readonly #files = new FilesApi(async () => (await this.#open()).files.workspace);
  readonly #workspace = new WorkspaceApi(async () => (await this.#open()).files.port);
  readonly #app = new AppApi(async () => (await this.#open()).app);

  /** Returns what agents here are made of. */
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

  /** Not a method of `app`: workerd never delivers a request that came in through a property's target and goes on. */
  async fetchApp(request: Request): Promise<Response> {
    return (await this.#open()).app.fetch(request);
  }

  /** Told by the agency, possibly twice: a crash may have come between its row and ours. */
  async register(info: AgentInfo, props?: Props, blueprint?: Blueprint): Promise<void> {
    await this.ensureReady();
    const { store, recorder, registration, resolver, name } = this.#agent;
    const given = props && parseProps(props);
    if (store.log.last === 0) {
      registration.put(info, given);
      recorder.record({ type: "thread.created", data: { threadId: name } });
    }
    // With the blueprint that the agency brings: it may be unable to answer before it has told us.
    if (given && blueprint) await resolver.check({ agent: info, props: {} }, given, blueprint);
  }

  async describe(): Promise<AgentInfo> {
    return (await this.#open()).registration.get().agent;
  }

  /** Stops, and returns what it has spent in all, before it is erased. Safe to ask again. */
  async retire(): Promise<UsageReport | undefined> {
    await this.ensureReady();
    const { queue, store, books } = this.#agent;
    queue.halt();
    return store.log.last > 0 ? books.createFullReport() : undefined;
  }

  /** Forgets everything, also if it cannot be opened. Safe to ask again. */
  async erase(): Promise<void> {
    this.#parts?.queue.halt();
    for (const feature of this.#parts?.features ?? []) feature.halt?.();
    await createSlotClient(this.env)?.forget(this.name);
    await this.destroy();
  }

  /** Called by the alarm while a turn runs, and once after it: resumes what a crash interrupted, ends what is stuck. */
  async heartbeat(beat: number): Promise<void> {
    await this.__unsafe_ensureInitialized();
    const { heartbeat, queue, store, books } = this.#agent;
    if (!heartbeat.take(beat)) return;
    await this.ensureReady().catch((error: unknown) => {
      heartbeat.stop();
      throw error;
    });
    queue.checkProgress(Date.now());
    queue.wake();
    // One that was erased meanwhile has nothing more to say.
    const isReported = store.log.last === 0 || (await books.reportIfDue(queue.isBusy));
    // A turn may have begun while the agency was told.
    if (queue.isBusy || !isReported) await heartbeat.arm();
    else heartbeat.stop();
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
      },
      schedule: (seconds, beat) => this.schedule(seconds, "heartbeat", beat, { idempotent: true }),
      onChange: () => this.#syncState(),
    });
  }

  protected override wake(): void {
    const { features, sockets, files, queue } = this.#agent;
    const connections = [...this.getConnections()];
    for (const feature of features) feature.wake?.(connections);
    sockets.restore(connections.filter((connection) => !files.live.has(connection)));
    queue.wake();
  }

  override shouldSendProtocolMessages(_connection: Connection, { request }: ConnectionContext): boolean {
    if (request.headers.get("x-thinkery-socket") === "1" || isLive(request)) return false;
    this.#syncState(true);
    return true;
  }

  override async onConnect(connection: Connection, { request }: ConnectionContext): Promise<void> {
    const { files, sockets } = await this.#open();
    (isLive(request) ? files.live : sockets).connect(connection, request);
  }

  override onClose(connection: Connection): void {
    this.#getSockets(connection).disconnect(connection);
  }

  override async onMessage(connection: Connection, message: string | ArrayBuffer): Promise<void> {
    await this.ensureReady();
    await this.#getSockets(connection).receive(connection, message);
  }

  #getSockets(connection: Connection): LiveSockets | Sockets {
    const { files, sockets } = this.#agent;
    return files.live.has(connection) ? files.live : sockets;
  }

  /** There is such an agent, and it is awake. */
  async #open(): Promise<AgentParts> {
    await this.ensureReady();
    this.#agent.registration.get();
    return this.#agent;
  }

  get #agent(): AgentParts {
    if (!this.#parts) throw new Error("the object has not started");
    return this.#parts;
  }

  /** The SDK stores and sends the state; that costs a write, so it is done only for clients that speak its protocol. */
  #syncState(now = false): void {
    const { sockets, store, name } = this.#agent;
    if (!now && !sockets.hasProtocolClients) return;
    const status = createStatus(store, name);
    if (JSON.stringify(status) !== JSON.stringify(this.state)) this.setState(status);
  }
}
