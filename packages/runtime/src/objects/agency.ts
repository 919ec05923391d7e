import {
  type Agency as AgencyInfo,
  type Agent as AgentInfo,
  formatAgentObjectName,
  type Blueprint,
  defaultBlueprint,
  type Grant,
  isThinkeryError,
  type ListedBlueprint,
  type NewAgent,
  ownerUser,
  parseAgencyKey,
  type PageQuery,
  type PolicyRule,
  type SubagentSummary,
} from "@thinkery/sdk";
import type { Connection, ConnectionContext } from "agents";
import { AgencyRecord } from "../agency/agency-record.ts";
import { AgentRegistry, type AgentRegistration } from "../agency/agents.ts";
import { Blueprints } from "../agency/blueprints.ts";
import { AgencyPolicy } from "../agency/policy.ts";
import { bumpRevision } from "../agency/revision.ts";
import { SubagentLists } from "../agency/subagent-lists.ts";
import { type SubagentTypeInfo, toType } from "../agency/subagent-types.ts";
import type { TeamInfo } from "../agency/team/team-prompt.ts";
import { AgencyUsageTotals } from "../agency/usage-totals.ts";
import { createSecretRedactor } from "../model/redactor.ts";
import { openAgentSandbox } from "../sandbox/agent-sandbox.ts";
import { openBlobIndex } from "../store/blobs/counted.ts";
import { openAgencyTables } from "../store/schema/agency-tables.ts";
import type { UsageReport } from "../store/usage-totals.ts";
import { checkNewAgent } from "../system/check-agent.ts";
import { addWarnings, checkNewBlueprint } from "../system/check-blueprint.ts";
import { defaultDriver } from "../system/drivers.ts";
import type { System } from "../system/system.ts";
import type { ToolProvider } from "../tools/provided-tools.ts";
import type { FeedbackApi } from "./agency-feedback.ts";
import type { MembersApi } from "./agency-members.ts";
import { AgencyPackages } from "./agency-packages.ts";
import type { ResourcesApi } from "./agency-resources.ts";
import type { SettingsApi } from "./agency-settings.ts";
import { AgencySockets, hasTeamState } from "./agency-sockets.ts";
import type { AgencyStorageApi } from "./agency-storage-api.ts";
import { type AgencyParts, assembleAgency } from "./assemble-agency.ts";
import { BaseObject } from "./base-object.ts";
import { checkDue } from "./check-due.ts";
import type { DocumentsApi } from "./documents-api.ts";
import type { Env } from "./env.ts";
import { hasLiveState, isLive } from "./live-sockets.ts";
import type { PackagesApi } from "./packages-api.ts";
import { PolicyApi } from "./policy-api.ts";
import { forgetSandboxes } from "./sandboxes.ts";
import type { SchedulesApi } from "./schedules-api.ts";
import type { SharedTasksApi } from "./shared-tasks-api.ts";
import type { TeamApi } from "./team-api.ts";
import { UsageApi } from "./usage-api.ts";
import type { WorkflowApi } from "./workflow-api.ts";

/** Increases with every change, so that clients know when to reload. */
export interface Revision {
  revision: number;
}

/** What an agency says about the next turn of any of its agents. */
export interface ResolvedByAgency {
  metered: boolean;
  types: SubagentTypeInfo[];
  rules: PolicyRule[];
  grants: Grant[];
  /** The tools that agents of the agency provide. */
  provided: ToolProvider[];
  /** The other members, if the agent works with them. */
  team?: TeamInfo;
  /** Whether the agent could write to others. */
  hasOthers?: boolean;
  /** Whether the agency wants to know what its agents do. */
  watched: boolean;
}

/** A tenant: stores blueprints, the registry of agents and their usage. Never calls a model. */
export abstract class Agency extends BaseObject<Revision> {
  override initialState: Revision = { revision: 0 };
  readonly #record: AgencyRecord;
  readonly #blueprints: Blueprints;
  readonly #agents: AgentRegistry;
  readonly #subagents: SubagentLists;
  readonly #usage: AgencyUsageTotals;
  readonly #usageApi = new UsageApi(async () => {
    await this.#open();
    return this.#usage;
  });
  readonly #policy: AgencyPolicy;
  readonly #policyApi = new PolicyApi(async () => {
    await this.#open();
    return { policy: this.#policy, agency: this.name };
  });
  readonly #parts: AgencyParts;
  readonly #sockets = new AgencySockets();
  readonly #packages: AgencyPackages;

  constructor(ctx: DurableObjectState, env: Env & Cloudflare.Env) {
    super(ctx, env, "Agency");
    const tables = openAgencyTables(ctx.storage);
    const key = ctx.id.name ?? "";
    const { id } = parseAgencyKey(key);
    this.#record = new AgencyRecord(ctx.storage.sql, key);
    this.#blueprints = new Blueprints(ctx.storage.sql, key, this.getSystem().blueprints);
    this.#agents = new AgentRegistry(ctx.storage.sql, id);
    this.#subagents = new SubagentLists(ctx.storage.sql);
    this.#policy = new AgencyPolicy(ctx.storage.sql);
    const user = () => env.User.getByName(this.#record.owner);
    this.#usage = new AgencyUsageTotals(ctx.storage, id, this.#record, {
      reportUsage: (report) => user().reportUsage(report),
      listBudgetStatuses: () => user().listBudgetStatuses(),
    });
    this.#parts = assembleAgency({
      env,
      storage: ctx.storage,
      tables,
      key,
      record: this.#record,
      agents: this.#agents,
      redactor: createSecretRedactor(env),
      credentialWatch: this.credentialWatch,
      open: () => this.#open(),
      getThink: (agent) => this.#getThink(agent),
      scheduleDue: (at) => this.#scheduleDue(at),
      publish: (createFrame) => {
        const frame = this.#sockets.isWatched ? createFrame() : undefined;
        if (frame) this.#sockets.publish(frame);
      },
      onAgentsChange: () => bumpRevision(key),
      announceName: (name) => user().renameAgency(id, name),
      waitUntil: (work) => ctx.waitUntil(work),
      createAgent: (agent) => this.createAgent(agent),
      settleAgents: () => this.#agents.settle(this.#registerAgent, this.#eraseAgent),
      findBlueprint: (name) => this.#blueprints.find(name),
    });
    this.#packages = new AgencyPackages({
      sql: ctx.storage.sql,
      blueprints: this.#blueprints,
      agents: this.#agents,
      open: () => this.#open(),
      openSandbox: () => openAgentSandbox(env),
      getOwner: () => this.#record.owner,
      createAgent: (agent) => this.createAgent(agent),
      updateAgent: (name) => this.#getThink(name).code.update(),
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

  get feedback(): FeedbackApi {
    return this.#parts.feedback.api;
  }

  get team(): TeamApi {
    return this.#parts.team.api;
  }

  get workflow(): WorkflowApi {
    return this.#parts.workflow.api;
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
    for (const name of this.#agents.listNames()) await this.#agents.remove(name, this.#eraseAgent);
    return exists ? this.#usage.createFullReport() : undefined;
  }

  /** Retires the agency, then deletes everything. Idempotent. */
  async erase(): Promise<void> {
    await this.retire();
    // From here on nothing can be read. Repeated after a crash, until nothing is left.
    await openBlobIndex(this.env)?.release(this.name);
    await this.destroy();
  }

  async listBlueprints(): Promise<ListedBlueprint[]> {
    await this.#open();
    return this.#blueprints.list().map((listed) => addWarnings(this.getSystem(), listed));
  }

  async getBlueprint(name: string): Promise<ListedBlueprint> {
    await this.#open();
    return addWarnings(this.getSystem(), this.#blueprints.get(name));
  }

  async putBlueprint(blueprint: Blueprint): Promise<ListedBlueprint> {
    await this.#open();
    checkNewBlueprint(this.env, this.getSystem(), blueprint);
    const stored = this.#blueprints.put(blueprint);
    this.#notifyChange();
    return addWarnings(this.getSystem(), stored);
  }

  async deleteBlueprint(name: string): Promise<void> {
    await this.#open();
    this.#blueprints.delete(name);
    this.#notifyChange();
  }

  async listAgents(page: PageQuery): Promise<{ agents: AgentInfo[]; next?: string }> {
    await this.#open();
    const { agents, ...next } = this.#agents.list(page);
    return {
      agents: agents.map((agent) => {
        const subagents = this.#subagents.list(agent.name);
        return { ...this.#fillDefaults(agent), ...(subagents.length > 0 ? { subagents } : {}) };
      }),
      ...next,
    };
  }

  /** Called by an agent, or by a sub-agent that has some itself, when they change. */
  async putSubagents(parent: string, summaries: SubagentSummary[]): Promise<void> {
    await this.#open();
    if (!this.#agents.find(parent.split("/", 1)[0] ?? "")) return;
    this.#subagents.put(parent, summaries);
    this.setState({ revision: this.state.revision + 1 });
  }

  async getAgent(name: string): Promise<AgentInfo> {
    await this.#open();
    return this.#fillDefaults(this.#agents.get(name));
  }

  async hasAgent(name: string): Promise<boolean> {
    await this.#open();
    // Part of an object's name, which is case-sensitive.
    return this.#agents.find(name)?.name === name;
  }

  /** Whoever creates an agent, it belongs to the owner of the agency. */
  async createAgent(options: NewAgent): Promise<AgentInfo> {
    const { id: agency, owner } = await this.#open();
    checkNewAgent(this.env, this.getSystem(), options);
    const driver = options.driver ?? options.backend;
    const blueprint = this.#blueprints.get(options.blueprint ?? options.agentType ?? defaultBlueprint.name);
    const name = options.name ?? this.#agents.createFreeName(blueprint.name);
    this.#agents.checkFree(name);
    const agent: AgentInfo = {
      id: name,
      name,
      agency,
      blueprint: blueprint.name,
      ...(driver ? { driver } : {}),
      ...(options.model ? { model: options.model } : {}),
      ...(options.system ? { system: options.system } : {}),
      owner,
      createdAt: new Date().toISOString(),
    };
    await this.#withAgentReserved(() => this.#addAgent(agent, options.props));
    this.#notifyChange(agent.blueprint);
    return this.#fillDefaults(agent);
  }

  async #addAgent(agent: AgentInfo, props: NewAgent["props"]): Promise<void> {
    await this.#agents
      .add({ agent, ...(props ? { props } : {}) }, this.#registerAgent)
      .catch(async (error: unknown) => {
        // If the agent rejects its props, it is removed at once, so that the name is free.
        if (isThinkeryError(error)) await this.#agents.remove(agent.name, this.#eraseAgent);
        throw error;
      });
  }

  /** The host's owner has no limit, so nobody is asked. */
  async #withAgentReserved(create: () => Promise<void>): Promise<void> {
    const { owner } = this.#record;
    if (owner === ownerUser) return create();
    const { limits } = this.env.User.getByName(owner);
    await limits.reserveAgent();
    try {
      await create();
    } finally {
      await limits.releaseAgent(parseAgencyKey(this.name).id, this.#agents.count());
    }
  }

  async deleteAgent(name: string): Promise<void> {
    await this.#open();
    const agent = this.#agents.get(name);
    await this.#agents.remove(agent.name, this.#eraseAgent);
    this.#notifyChange(agent.blueprint);
    // A lost report is made up for by the next one.
    const logError = (error: unknown) => console.error("usage report to the owner failed", error);
    this.ctx.waitUntil(this.#usage.reportToOwner().catch(logError));
  }

  /** Returns what an agent needs for its next turn: its blueprint, rules, and whether it must reserve budget. */
  async resolveBlueprint(blueprint: string, agent: string): Promise<ResolvedByAgency & { blueprint: ListedBlueprint }> {
    await this.#open();
    return { blueprint: this.#blueprints.get(blueprint), ...(await this.resolveRules(agent)) };
  }

  /** Returns what applies to all agents, whatever their blueprints. */
  async resolveRules(agent: string): Promise<ResolvedByAgency> {
    await this.#open();
    const types = this.#blueprints.list().map((blueprint) => toType(blueprint));
    const { rules } = this.#policy.get();
    const grants = this.#policy.listGrants();
    const team = this.#parts.describeTeam(agent);
    return {
      metered: this.#usage.isMetered,
      types,
      rules,
      grants,
      provided: this.#packages.listProviders(),
      ...(team ? { team } : {}),
      ...(this.#agents.count() > 1 ? { hasOthers: true } : {}),
      watched: this.#sockets.isWatched,
    };
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
    return request.headers.get("x-thinkery-socket") !== "1" && !isLive(request);
  }

  override async onConnect(connection: Connection, { request }: ConnectionContext): Promise<void> {
    if (isLive(request)) return this.#parts.documents.connect(connection, request);
    if (request.headers.get("x-thinkery-socket") !== "1") return;
    await this.#open();
    const run = this.#parts.workflow.find();
    const agents = await this.#parts.team.describeAgents();
    if (!this.#sockets.isWatched) bumpRevision(this.name);
    this.#sockets.connect(connection, request, { type: "sync", agents, ...(run ? { run } : {}) });
  }

  override async onMessage(connection: Connection, message: string | ArrayBuffer): Promise<void> {
    await this.ensureReady();
    if (hasLiveState(connection)) this.#parts.documents.receive(connection, message);
    else if (hasTeamState(connection)) this.#sockets.receive(connection);
  }

  override onClose(connection: Connection): void {
    if (hasLiveState(connection)) this.#parts.documents.disconnect(connection);
    else this.#sockets.disconnect(connection);
  }

  protected override async wake(): Promise<void> {
    const connections = [...this.getConnections()];
    this.#sockets.restore(connections);
    for (const feature of this.#parts.features) feature.wake?.(connections);
    this.#parts.timer
      .update()
      .catch((error: unknown) => console.error("the next check of an agency could not be scheduled", error));
    if (await this.#agents.settle(this.#registerAgent, this.#eraseAgent)) this.#notifyChange();
  }

  readonly #registerAgent = async ({ agent, props }: AgentRegistration): Promise<void> => {
    await this.#getThink(agent.name).register(agent, props, this.#blueprints.find(agent.blueprint));
  };

  readonly #eraseAgent = async (name: string): Promise<void> => {
    const reports = await this.#getThink(name).retire();
    for (const last of reports) this.#usage.close(last);
    const agents = new Set([name, ...reports.map((report) => report.name)]);
    for (const agent of agents) await forgetSandboxes(this.env, formatAgentObjectName(this.name, agent));
    await this.#getThink(name).erase();
    this.#subagents.remove(name);
    this.#policy.forgetAgent(formatAgentObjectName(this.name, name));
    for (const feature of this.#parts.features) feature.forgetAgent?.(name);
    // Last, because blobs must outlive what refers to them. Repeated after a crash, like everything above.
    const key = formatAgentObjectName(this.name, name);
    await openBlobIndex(this.env)?.release(key);
    // Not awaited, because the user's object may be waiting for this.
    const user = this.env.User.getByName(this.#record.owner);
    this.ctx.waitUntil(Promise.all([user.limits.forgetDisk(key), user.inbox.forget(key)]));
  };

  async #scheduleDue(at: number): Promise<void> {
    await this.schedule(new Date(at), "checkDue", at, { idempotent: true });
  }

  #getThink(name: string) {
    return this.env.Think.getByName(formatAgentObjectName(this.name, name));
  }

  async #open(): Promise<AgencyInfo> {
    await this.ensureReady();
    return this.#record.get();
  }

  /** Adds the driver and model of the blueprint, unless the agent has its own. */
  #fillDefaults(agent: AgentInfo): AgentInfo {
    const blueprint = this.#blueprints.find(agent.blueprint);
    const model = agent.model ?? blueprint?.model;
    const driver = agent.driver ?? blueprint?.driver ?? defaultDriver;
    return { ...agent, driver, ...(model ? { model } : {}) };
  }

  /** `blueprint` is that of an agent which was created or deleted: the others are offered the tools of its code. */
  #notifyChange(blueprint?: string): void {
    if (blueprint && this.#blueprints.find(blueprint)?.config?.isolate) bumpRevision(this.name);
    this.setState({ revision: this.state.revision + 1 });
    const info = this.#record.find();
    // Only for the owner's overview; a lost count is corrected by the next change.
    if (info) this.ctx.waitUntil(this.env.User.getByName(info.owner).noteAgents(info.id, this.#agents.count()));
  }
}
