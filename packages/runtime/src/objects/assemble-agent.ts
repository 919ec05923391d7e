import { type AgentAddress, formatAgentObjectName, formatAddress } from "@thinkery/sdk";
import { subagentLimitsSchema } from "@thinkery/sdk/internal";
import { createSecretRedactor } from "../model/redactor.ts";
import { openSandbox } from "../sandbox/open.ts";
import { AgentStore } from "../store/agent-store.ts";
import { openThinkTables } from "../store/schema/think.ts";
import { Webhooks } from "../store/webhooks.ts";
import type { ClassLayer } from "../system/layers.ts";
import type { System } from "../system/system.ts";
import { TurnQueue } from "../turn/admission/turn-queue.ts";
import { TurnWaits } from "../turn/admission/turn-waits.ts";
import { getMaxGapMs, resolveLimits } from "../turn/limits.ts";
import { Recorder } from "../turn/loop/recorder.ts";
import { RemoteWorkspace } from "../workspace/remote-workspace.ts";
import type { WorkspacePort } from "../workspace/workspace-port.ts";
import { AgencyBudgetClient } from "./agency-budget-client.ts";
import { createAgentListener } from "./agent-listener.ts";
import { AgentResolver } from "./agent-resolver.ts";
import { AppFeature } from "./app-feature.ts";
import { AssignmentFeature, type ParentStub } from "./assignment-feature.ts";
import { Broadcaster } from "./broadcaster.ts";
import { CheckedMerges } from "./checked-merges.ts";
import { CodeFeature } from "./code-feature.ts";
import { DiskQuota } from "./disk-quota.ts";
import { DueTimer } from "./due-timer.ts";
import type { Env } from "./env.ts";
import type { AgentFeature } from "./feature.ts";
import { FilesFeature } from "./files-feature.ts";
import { Heartbeat } from "./heartbeat.ts";
import { LeasedBudgetClient } from "./leased-budget-client.ts";
import { openOwnerBlobs } from "./owner-blobs.ts";
import { createQueueHooks } from "./queue-hooks.ts";
import { Registration } from "./registration.ts";
import { openCheckSandbox } from "./sandboxes.ts";
import { SchedulesFeature } from "./schedules-feature.ts";
import { Sockets } from "./sockets.ts";
import { SubagentsFeature } from "./subagents-feature.ts";
import { ChildClient, type Facets } from "./subagents/child-client.ts";
import { ChildStream } from "./subagents/child-stream.ts";
import { closeAccounts } from "./subagents/close-accounts.ts";
import { createDelegatedTasks } from "./subagents/delegated-tasks.ts";
import { openLease } from "./subagents/open-lease.ts";
import { SubagentSummaries } from "./subagents/summaries.ts";
import { TasksFeature } from "./tasks-feature.ts";
import { createTeamClient } from "./team-client.ts";
import { TeamFeature } from "./team-feature.ts";
import { TurnLease } from "./turn-lease.ts";
import { WaitsFeature } from "./waits-feature.ts";
import { WebhookReceiver } from "./webhook-receiver.ts";

interface AgentContext {
  storage: DurableObjectStorage;
  env: Env;
  address: AgentAddress;
  system: System;
  layer: ClassLayer;
  /** Schedules a heartbeat that survives the loss of memory. */
  schedule(seconds: number, beat: number): Promise<unknown>;
  /** Schedules a check of what is due, at a time (epoch ms). */
  scheduleDue(at: number): Promise<unknown>;
  /** The agent's own sub-agents. */
  facets: Facets;
  /** Opens the agent that a sub-agent belongs to. */
  openParent(): Promise<ParentStub>;
  waitUntil(work: Promise<unknown>): void;
  /** Called when the state that clients see may have changed. */
  onChange(): void;
}

/** Creates the parts of an agent. Called after each wake, when the object knows its address. */
export function assembleAgent({ storage, env, address, system, layer, schedule, onChange, ...context }: AgentContext) {
  const isRoot = address.path.length === 1;
  const createTables = openThinkTables(storage, isRoot);
  const name = formatAddress(address);
  const root = formatAgentObjectName(address.agency, address.path[0]);
  const limits = resolveLimits(env.TURN_LIMITS);
  const agency = () => env.Agency.getByName(address.agency);
  const getOwner = () => registration.get().agent.owner;
  const inbox = () => env.User.getByName(getOwner()).inbox;
  const redactor = createSecretRedactor(env);
  const store = new AgentStore(storage, name, redactor);
  const broadcaster = new Broadcaster(store, onChange);
  const listener = createAgentListener(isRoot, broadcaster, () => ({ summaries, waits, assignment, stream, team }));
  const recorder = new Recorder(store, listener, redactor);
  const registration = new Registration(storage.sql);
  const heartbeat = new Heartbeat({ seconds: limits.heartbeatSeconds, schedule });

  const disk = new DiskQuota({ env, storage, key: name, ownsBlobs: isRoot, getOwner });
  const blobs = openOwnerBlobs(env, root, disk);
  const own = { env, address, store, blobs, recorder, registration };
  const files = new FilesFeature({
    storage,
    blobs,
    env,
    record: (event) => recorder.record(event),
    checkGrowth: (bytes) => disk.check(bytes),
    getOwner,
    hasTables: isRoot,
    createTables: () => createTables("files"),
  });
  // A sub-agent works in the workspace of its root agent, and in its sandbox processes: the two would compete for them.
  const workspace: WorkspacePort = isRoot
    ? files.port
    : new RemoteWorkspace({ connect: () => env.Think.getByName(root).workspace, blobs, limits: files.limits });
  const app = new AppFeature({ address, sandboxKey: root, store, blobs, recorder, sandbox: () => openSandbox(env) });

  const budgetClient: AgencyBudgetClient = new AgencyBudgetClient({
    ...own,
    isMetered: () => resolver.isMetered(),
  });
  const lease = isRoot ? undefined : openLease(store, context, () => ({ assignment, queue }));
  const resolver = new AgentResolver({
    ...own,
    sandboxKey: root,
    system,
    layer,
    budgetClient: lease ? new LeasedBudgetClient(lease, budgetClient) : budgetClient,
    workspace,
    subagents: () => subagents,
    hasWebhook: (webhook) => receiver.has(webhook),
    redactor,
    schedules: () => schedules,
    team: createTeamClient({ env, address }),
    code: () => code,
    callAgentTool: async (agent, tool, json, callers) =>
      env.Think.getByName(formatAgentObjectName(address.agency, agent)).code.callTool(tool, json, callers),
  });
  const code: CodeFeature = new CodeFeature({
    ...own,
    storage,
    resolver,
    redact: (text) => redactor.redactLog(text),
    redactValue: (value) => redactor.redactValue(value),
    createTables: () => createTables("code"),
    isBusy: () => queue.isBusy,
    onConcurrent: () => queue.wake(),
    waitUntil: (work) => context.waitUntil(work),
  });
  const subagentLimits = env.SUBAGENT_LIMITS ?? subagentLimitsSchema.parse({});
  const merges = new CheckedMerges({
    workspace,
    resolver,
    registration,
    sandbox: openSandbox(env),
    sandboxKey: root,
    linux: openCheckSandbox(env, name),
    checkSeconds: subagentLimits.mergeCheckSeconds,
  });
  const children = new ChildClient(context.facets);
  const stream = new ChildStream({
    store,
    limits: subagentLimits,
    findAssignment: () => assignment.findUnreported(),
    openParent: () => context.openParent(),
    waitUntil: (work) => context.waitUntil(work),
  });
  const subagents = new SubagentsFeature({
    ...own,
    limits: subagentLimits,
    resolver,
    children,
    tasks: createDelegatedTasks(store.tasks),
    lease,
    workspace,
    merges,
    queue: () => queue,
    resolveToolCall: (report, createMore) => turnWaits.resolveToolCall(report, createMore),
    sync: () => storage.sync(),
    onBusy: () => void heartbeat.begin(),
    onChange: () => assignment.tick(Date.now()),
    updateTimer: () => timer.update(),
    waitUntil: (work) => context.waitUntil(work),
    relay(frames) {
      const isHeard = broadcaster.relay(frames);
      return (!isRoot && stream.pass(frames)) || isHeard;
    },
    closeAccounts: (reports) => closeAccounts(env, address.agency, inbox(), reports),
  });
  const summaries = new SubagentSummaries({
    address,
    store,
    send: (parent, list) => agency().putSubagents(parent, list),
    waitUntil: (work) => context.waitUntil(work),
  });
  const assignment = new AssignmentFeature({
    name,
    store,
    recorder,
    registration,
    maxGapMs: getMaxGapMs(limits),
    queue: () => queue,
    openParent: () => context.openParent(),
    endStream: () => stream.end(),
    lease,
    findChildrenWait: (runId) => subagents.findPersonWait(runId),
    cancelSubagents: (runId) => subagents.cancelActive(runId),
    onBusy: () => void heartbeat.begin(),
    waitUntil: (work) => context.waitUntil(work),
  });
  const turnLease = new TurnLease({
    env,
    agent: root,
    registration,
    heartbeatSeconds: limits.heartbeatSeconds,
    isBusy: () => queue.isBusy,
  });
  const queue = new TurnQueue({
    agent: name,
    store,
    blobs,
    recorder,
    boot: env.BOOT ?? { id: "", after: "stop" },
    limits,
    async resolve(turn) {
      await waits.sendGrants();
      return resolver.resolve(registration.get(), turn.props);
    },
    ...createQueueHooks(isRoot, () => ({
      heartbeat,
      subagents,
      assignment,
      code,
      turnLease,
      budgetClient,
      lease,
      disk,
    })),
  });
  const turnWaits = new TurnWaits({
    store,
    blobs,
    recorder,
    resume: (turn, ...events) => queue.resume(turn, ...events),
  });
  const waits: WaitsFeature = new WaitsFeature({
    name,
    store,
    waits: turnWaits,
    timer: () => timer,
    send: (items) => inbox().put(name, items),
    resolveTools: async () => (await resolver.resolveTools(registration.get())).tools,
    addGrants: (grants) => agency().policy.addGrants(grants),
    waitUntil: (work) => context.waitUntil(work),
  });
  const receiver = new WebhookReceiver({
    ...own,
    webhooks: new Webhooks(storage.sql, () => createTables("webhooks")),
    queue,
    turnWaits,
    turnLease,
  });
  const sockets = new Sockets({ store, blobs, broadcaster, recorder, queue, turnLease, turnWaits, waits });
  const tasks = new TasksFeature(store.tasks, recorder);
  const schedules: SchedulesFeature = new SchedulesFeature({
    ...own,
    storage,
    isRoot,
    queue,
    turnLease,
    redactor,
    wakeAt: (time) => timer.update(time),
  });
  const team: TeamFeature = new TeamFeature({
    ...own,
    storage,
    createTable: () => createTables("team"),
    queue: () => queue,
    turnLease,
    agency: () => agency().team,
    isWatched: () => resolver.isWatched,
    updateTimer: () => timer.update(),
    waitUntil: (work) => context.waitUntil(work),
  });
  const features: AgentFeature[] = [files, app, code, tasks, subagents, summaries, assignment, waits, schedules, team];
  const timer: DueTimer = new DueTimer({ features: () => features, schedule: (at) => context.scheduleDue(at) });

  return {
    name,
    agency,
    redactor,
    blobs,
    disk,
    store,
    broadcaster,
    recorder,
    registration,
    heartbeat,
    budgetClient,
    resolver,
    queue,
    turnWaits,
    waits,
    receiver,
    turnLease,
    sockets,
    files,
    merges,
    app,
    code,
    subagents,
    assignment,
    children,
    lease,
    tasks,
    schedules,
    team,
    features,
    timer,
  };
}

export type AgentParts = ReturnType<typeof assembleAgent>;
