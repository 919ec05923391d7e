import {
  type Agency as AgencyInfo,
  type Agent as AgentInfo,
  type ListedBlueprint,
  type NewAgent,
  parseAgencyKey,
  type PageQuery,
  type SubagentSummary,
} from "@thinkery/sdk";
import type { Connection, ConnectionContext } from "agents";
import { AgencyRecord } from "../agency/agency-record.ts";
import { AgentRegistry } from "../agency/agents.ts";
import { Blueprints } from "../agency/blueprints.ts";
import { AgencyPolicy } from "../agency/policy.ts";
import { bumpRevision } from "../agency/revision.ts";
import { AgencyUsageTotals } from "../agency/usage-totals.ts";
import { createSecretRedactor } from "../model/redactor.ts";
import { openAgentSandbox } from "../sandbox/agent-sandbox.ts";
import { openBlobIndex } from "../store/blobs/counted.ts";
import { openAgencyTables } from "../store/schema/agency-tables.ts";
import type { UsageReport } from "../store/usage-totals.ts";
import type { System } from "../system/system.ts";
import { AgencyAgents } from "./agency-agents.ts";
import type { FeedbackApi } from "./agency-feedback.ts";
import type { MembersApi } from "./agency-members.ts";
import { AgencyPackages } from "./agency-packages.ts";
import type { ResourcesApi } from "./agency-resources.ts";
import type { SettingsApi } from "./agency-settings.ts";
import { AgencySockets } from "./agency-sockets.ts";
import type { AgencyStorageApi } from "./agency-storage-api.ts";
import type { AgencyToolsApi } from "./agency-tools.ts";
import { type AgencyParts, assembleAgency } from "./assemble-agency.ts";
import { BaseObject } from "./base-object.ts";
import { BlueprintsApi } from "./blueprints-api.ts";
import { checkDue } from "./check-due.ts";
import type { DocumentsApi } from "./documents-api.ts";
import type { Env } from "./env.ts";
import type { PackagesApi } from "./packages-api.ts";
import { PolicyApi } from "./policy-api.ts";
import { type ResolvedByAgency, resolveRules } from "./resolve-rules.ts";
import type { SchedulesApi } from "./schedules-api.ts";
import type { SharedTasksApi } from "./shared-tasks-api.ts";
import type { TeamApi } from "./team-api.ts";
import { UsageApi } from "./usage-api.ts";
import type { WorkflowApi } from "./workflow-api.ts";

/** Increases with every change, so that clients know when to reload. */
export interface Revision {
  revision: number;
}

/** A tenant: stores blueprints, the registry of agents and their usage. Never calls a model. */
export abstract class Agency extends BaseObject<Revision> {
  override initialState: Revision = { revision: 0 };
  readonly #record: AgencyRecord;
  readonly #blueprints: Blueprints;
  readonly #registry: AgentRegistry;
  readonly #agents: AgencyAgents;
  readonly #usage: AgencyUsageTotals;
  readonly #usageApi = new UsageApi(() => this.#open().then(() => this.#usage));
  readonly #blueprintsApi = new BlueprintsApi(async () => {
    await this.#open();
    return {
      env: this.env,
      system: this.getSystem(),
      blueprints: this.#blueprints,
      onChange: () => this.#notifyChange(),
    };
  });
  readonly #policy: AgencyPolicy;
  readonly #policyApi = new PolicyApi(() => this.#open().then(() => ({ policy: this.#policy, agency: this.name })));
  readonly #parts: AgencyParts;
  readonly #sockets = new AgencySockets({
    documents: () => this.#parts.documents,
    createSync: () => this.#open().then(() => this.#parts.createSync()),
    onWatched: () => bumpRevision(this.name),
  });
  readonly #packages: AgencyPackages;

  constructor(ctx: DurableObjectState, env: Env & Cloudflare.Env) {
    super(ctx, env, "Agency");
    const tables = openAgencyTables(ctx.storage);
    const key = ctx.id.name ?? "";
    const { id } = parseAgencyKey(key);
    this.#record = new AgencyRecord(ctx.storage.sql, key);
    this.#blueprints = new Blueprints(ctx.storage.sql, key, this.getSystem().blueprints);
    this.#registry = new AgentRegistry(ctx.storage.sql, id);
    this.#policy = new AgencyPolicy(ctx.storage.sql);
    const user = () => env.User.getByName(this.#record.owner);
    this.#usage = new AgencyUsageTotals(ctx.storage, id, this.#record, () => user().usage);
    this.#agents = new AgencyAgents({
      env,
      sql: ctx.storage.sql,
      key,
      system: this.getSystem(),
      record: this.#record,
      registry: this.#registry,
      blueprints: this.#blueprints,
      policy: this.#policy,
      usage: this.#usage,
      forgetAgent: (name) => {
        for (const feature of this.#parts.features) feature.forgetAgent?.(name);
      },
      waitUntil: (work) => ctx.waitUntil(work),
    });
    this.#parts = assembleAgency({
      env,
      storage: ctx.storage,
      tables,
      key,
      record: this.#record,
      agents: this.#registry,
      redactor: createSecretRedactor(env),
      credentialWatch: this.credentialWatch,
      open: () => this.#open(),
      getThink: (agent) => this.#agents.getThink(agent),
      scheduleDue: (at) => this.#scheduleDue(at),
      publish: (createFrame) => {
        const frame = this.#sockets.isWatched ? createFrame() : undefined;
        if (frame) this.#sockets.publish(frame);
      },
      onAgentsChange: () => bumpRevision(key),
      announceName: (name) => user().renameAgency(id, name),
      waitUntil: (work) => ctx.waitUntil(work),
      createAgent: (agent) => this.createAgent(agent),
      settleAgents: () => this.#agents.settle(),
      findBlueprint: (name) => this.#blueprints.find(name),
      system: this.getSystem(),
      listProviders: () => this.#packages.listProviders(),
    });
    this.#packages = new AgencyPackages({
      sql: ctx.storage.sql,
      blueprints: this.#blueprints,
      agents: this.#registry,
      open: () => this.#open(),
      openSandbox: () => openAgentSandbox(env),
      getOwner: () => this.#record.owner,
      createAgent: (agent) => this.createAgent(agent),
      updateAgent: (name) => this.#agents.getThink(name).code.update(),
      onChange: () => {
        bumpRevision(key);
        this.#notifyChange();
      },
      waitUntil: (work) => ctx.waitUntil(work),
    });
  }

  get schedules(): SchedulesApi {
    return this.#parts.schedules.api;
  }

  get settings(): SettingsApi {
    return this.#parts.settings.api;
  }

  get members(): MembersApi {
    return this.#parts.members.api;
  }

  get documents(): DocumentsApi {
    return this.#parts.documents.api;
  }

  get resources(): ResourcesApi {
    return this.#parts.resources.api;
  }

  get storage(): AgencyStorageApi {
    return this.#parts.storage;
  }

  /** `tasks` is a property of the Agents SDK. */
  get sharedTasks(): SharedTasksApi {
    return this.#parts.tasks.api;
  }

  get agencyTools(): AgencyToolsApi {
    return this.#parts.tools.api;
  }

  get feedback(): FeedbackApi {
    return this.#parts.feedback.api;
  }

  get team(): TeamApi {
    return this.#parts.team.api;
  }

  get workflow(): WorkflowApi {
    return this.#parts.workflow.api;
  }

  get blueprints(): BlueprintsApi {
    return this.#blueprintsApi;
  }

  get packages(): PackagesApi {
    return this.#packages.api;
  }

  /** The tools, middleware and blueprints available to agents. */
  protected abstract getSystem(): System;

  get usage(): UsageApi {
    return this.#usageApi;
  }

  get policy(): PolicyApi {
    return this.#policyApi;
  }

  /** `isMetered`: the owner has a budget. */
  async setUp(info: AgencyInfo, isMetered = false): Promise<AgencyInfo> {
    await this.ensureReady();
    const created = this.#record.create(info);
    this.#record.isMetered = isMetered;
    return created;
  }

  /** Deletes all agents, and returns their total usage. Idempotent. */
  async retire(): Promise<UsageReport | undefined> {
    await this.ensureReady();
    const exists = this.#record.markDeleting();
    this.#parts.timer.halt();
    for (const feature of this.#parts.features) feature.halt?.();
    await this.#parts.members.removeAll();
    await this.#agents.deleteAll();
    return exists ? this.#usage.createFullReport() : undefined;
  }

  /** Retires the agency, then deletes everything. Idempotent. */
  async erase(): Promise<void> {
    await this.retire();
    // From here on nothing can be read. Repeated after a crash, until nothing is left.
    await openBlobIndex(this.env)?.release(this.name);
    await this.destroy();
  }

  async listAgents(page: PageQuery): Promise<{ agents: AgentInfo[]; next?: string }> {
    await this.#open();
    return this.#agents.list(page);
  }

  /** Called by an agent, or by a sub-agent that has some itself, when they change. */
  async putSubagents(parent: string, summaries: SubagentSummary[]): Promise<void> {
    await this.#open();
    if (this.#agents.putSubagents(parent, summaries)) this.setState({ revision: this.state.revision + 1 });
  }

  async getAgent(name: string): Promise<AgentInfo> {
    await this.#open();
    return this.#agents.get(name);
  }

  async createAgent(options: NewAgent): Promise<AgentInfo> {
    await this.#open();
    const agent = await this.#agents.create(options);
    this.#notifyAgents();
    return agent;
  }

  async deleteAgent(name: string): Promise<void> {
    await this.#open();
    await this.#agents.delete(name);
    this.#notifyAgents();
  }

  async hasAgent(name: string): Promise<boolean> {
    await this.#open();
    // Part of an object's name, which is case-sensitive.
    return this.#registry.find(name)?.name === name;
  }

  /** Returns what an agent needs for its next turn: its blueprint, rules, and whether it must reserve budget. */
  async resolveBlueprint(blueprint: string, agent: string): Promise<ResolvedByAgency & { blueprint: ListedBlueprint }> {
    await this.#open();
    return { blueprint: this.#blueprints.get(blueprint), ...(await this.resolveRules(agent)) };
  }

  /** Returns what applies to an agent, whatever its blueprint. */
  async resolveRules(agent: string): Promise<ResolvedByAgency> {
    await this.#open();
    const stored = { blueprints: this.#blueprints, policy: this.#policy, usage: this.#usage };
    const { describeTeam, tools, settings } = this.#parts;
    const given = { team: describeTeam(agent), tools: tools.listOf(agent), vars: settings.vars };
    const live = { agents: this.#registry, packages: this.#packages, isWatched: this.#sockets.isWatched };
    return resolveRules({ ...stored, ...given, ...live });
  }

  async isMetered(): Promise<boolean> {
    await this.#open();
    return this.#usage.isMetered;
  }

  /** Called by the owner, possibly twice, when its budget is set or removed. */
  async setMetered(metered: boolean): Promise<void> {
    await this.#open();
    this.#record.isMetered = metered;
  }

  /** Called by the schedule when something is due. */
  checkDue(at: number): Promise<void> {
    const open = async () => {
      await this.ensureReady();
      return this.#parts.timer;
    };
    return checkDue(at, { open, schedule: (next) => this.#scheduleDue(next) });
  }

  override shouldSendProtocolMessages(_connection: Connection, { request }: ConnectionContext): boolean {
    return AgencySockets.usesProtocol(request);
  }

  override onConnect(connection: Connection, { request }: ConnectionContext): Promise<void> {
    return this.#sockets.connect(connection, request);
  }

  override async onMessage(connection: Connection, message: string | ArrayBuffer): Promise<void> {
    await this.ensureReady();
    this.#sockets.receive(connection, message);
  }

  override onClose(connection: Connection): void {
    this.#sockets.disconnect(connection);
  }

  protected override async wake(): Promise<void> {
    const connections = [...this.getConnections()];
    this.#sockets.restore(connections);
    for (const feature of this.#parts.features) feature.wake?.(connections);
    this.#parts.timer
      .update()
      .catch((error: unknown) => console.error("the next check of an agency could not be scheduled", error));
    if (await this.#agents.settle()) this.#notifyAgents();
  }

  async #scheduleDue(at: number): Promise<void> {
    await this.schedule(new Date(at), "checkDue", at, { idempotent: true });
  }

  async #open(): Promise<AgencyInfo> {
    await this.ensureReady();
    return this.#record.get();
  }

  /** Agents are told who else there is, and offered the tools of each other's code. */
  #notifyAgents(): void {
    bumpRevision(this.name);
    this.#notifyChange();
  }

  #notifyChange(): void {
    this.setState({ revision: this.state.revision + 1 });
    const info = this.#record.find();
    // Only for the owner's overview; a lost count is corrected by the next change.
    if (info) this.ctx.waitUntil(this.env.User.getByName(info.owner).noteAgents(info.id, this.#registry.count()));
  }
}
