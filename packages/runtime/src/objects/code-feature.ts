import {
  type AgentAddress,
  type AgentCodeInfo,
  type AgentExport,
  type AgentLogQuery,
  type AgentSettings,
  type AgentState,
  type Blueprint,
  fail,
  fillSettings,
  findSettingIssues,
  formatAddress,
  type SettingValue,
} from "@thinkery/sdk";
import { type AgentEvent as CodeEvent, maxStateBytes } from "@thinkery/sdk/agent-host";
import { getRevision } from "../agency/revision.ts";
import { CodeError } from "../drivers/isolate/code-error.ts";
import { type CodeVersion, summarizeTools } from "../drivers/isolate/code-version.ts";
import { storageLimits } from "../drivers/isolate/host-call-schemas.ts";
import type { UserCode } from "../drivers/isolate/user-code.ts";
import type { AgentCode } from "../sandbox/agent-run.ts";
import { type AgentSandbox, openAgentSandbox } from "../sandbox/agent-sandbox.ts";
import { CodeStore } from "../store/code/code-store.ts";
import { CodeRequests, type CodeRequestsOptions } from "./code-requests.ts";
import type { Env } from "./env.ts";
import type { AgentFeature } from "./feature.ts";
import type { Registration } from "./registration.ts";

interface CodeFeatureOptions extends Pick<CodeRequestsOptions, "store" | "blobs" | "recorder" | "resolver"> {
  env: Env;
  storage: DurableObjectStorage;
  address: AgentAddress;
  registration: Registration;
  redact(text: string): string;
  redactValue<T>(value: T): T;
  createTables(): void;
  isBusy(): boolean;
  /** Called when it is known that the code handles several messages at once. */
  onConcurrent(): void;
  waitUntil(work: Promise<unknown>): void;
}

/** How long a new version is not noticed that was deployed in another isolate of main (Cloudflare). */
const ttlMs = 30_000;
const shutdownMs = 5000;
/** A larger state is only part of an export. */
const maxShownStateChars = 64 * 1024;

/** The code of an agent that is made from a package: which version runs, its settings, its hooks and its tools. */
export class CodeFeature implements AgentFeature, UserCode {
  readonly agent: string;
  readonly store: CodeStore;
  readonly sandbox: AgentSandbox;
  readonly #options: CodeFeatureOptions;
  readonly #requests: CodeRequests;
  readonly #ending = new AbortController();
  #current: { version: CodeVersion; revision: number; at: number } | undefined;
  #initializing: Promise<void> | undefined;
  #isOutdated = false;

  constructor(options: CodeFeatureOptions) {
    this.#options = options;
    this.agent = formatAddress(options.address);
    this.store = new CodeStore(options.storage, () => options.createTables());
    this.sandbox = openAgentSandbox(options.env);
    this.#requests = new CodeRequests({
      ...options,
      code: this,
      registered: () => options.registration.get(),
      signal: this.#ending.signal,
    });
  }

  get owner(): string {
    return this.#options.registration.get().agent.owner;
  }

  /** With the time of its creation: another agent of this name must not find what was left in memory. */
  get isolateName(): string {
    return `${this.agent}.${Date.parse(this.#options.registration.get().agent.createdAt)}`;
  }

  /** Whether messages that have to wait are handled together, as far as is known without asking the agency. */
  get batches(): boolean {
    return this.#current?.version.description.batch ?? false;
  }

  /** How many messages the code handles at once, as far as is known. */
  get concurrency(): number {
    return this.#current?.version.description.concurrency ?? 1;
  }

  redact(text: string): string {
    return this.#options.redact(text);
  }

  async resolve(version?: number): Promise<CodeVersion> {
    if (version !== undefined) return this.#find(version);
    const { agency } = this.#options.address;
    const current = this.#current;
    const revision = getRevision(agency);
    if (current && current.revision === revision && Date.now() - current.at < ttlMs) return current.version;
    const found = await this.#find(undefined);
    this.#current = { version: found, revision, at: Date.now() };
    if (found.description.concurrency > 1) this.#options.onConcurrent();
    return found;
  }

  readCode(version: CodeVersion): Promise<AgentCode> {
    return this.#agency.packages.readCode(version.package, version.version);
  }

  async initialize(version: CodeVersion, signal: AbortSignal): Promise<void> {
    const { record } = this.store.open();
    while (record.version !== version.version) {
      this.#initializing ??= this.#replaceVersion(version).finally(() => (this.#initializing = undefined));
      await this.#initializing;
      signal.throwIfAborted();
    }
  }

  /** Called when another version became the current one. An agent in the middle of a turn goes on with its own. */
  async update(): Promise<void> {
    this.#current = undefined;
    if (!this.store.exists || this.store.record.version === undefined) return;
    this.#isOutdated = this.#options.isBusy();
    if (!this.#isOutdated) await this.#update();
  }

  /** Called when a turn is over. */
  onTurnEnd(runId: string): void {
    if (!this.store.exists || this.store.record.version === undefined) return;
    this.store.journal.forget(runId);
    const { status, failure } = this.#options.store.turns.get(runId) ?? {};
    const outcome = status === "completed" || status === "canceled" ? status : "failed";
    this.#dispatch({ type: "turn.ended", outcome, ...(failure ? { error: failure.message } : {}) });
    if (!this.#isOutdated) return;
    this.#isOutdated = false;
    this.#options.waitUntil(this.#update());
  }

  /** Runs a tool that the agent provides. `callers` are the agents that wait for it, outermost first. */
  async callTool(tool: string, input: unknown, callers: readonly string[]): Promise<unknown> {
    const version = await this.resolve();
    await this.initialize(version, this.#ending.signal);
    return this.#requests.callTool(version, { tool, input, callers });
  }

  async readSettings(): Promise<AgentSettings> {
    if (!(await this.#readBlueprint()).config?.isolate) return { settings: {}, set: {}, schema: {} };
    const { settings: schema } = await this.resolve();
    const set = this.store.exists ? this.store.record.settings : {};
    return { settings: fillSettings(schema, set), set, schema };
  }

  async putSettings(changes: Record<string, SettingValue | null>): Promise<AgentSettings> {
    const { settings: previous, set: former, schema } = await this.readSettings();
    const issues = findSettingIssues(schema, changes).map(({ path, message }) => ({
      path: ["settings", ...path],
      message,
    }));
    if (issues.length > 0)
      throw fail(
        "bad_request",
        issues.map(({ path, message }) => `${path.slice(1).join(".")}: ${message}`).join("; "),
        {
          issues,
        },
      );
    const set = Object.fromEntries(
      Object.entries({ ...former, ...changes }).filter((entry): entry is [string, SettingValue] => entry[1] !== null),
    );
    this.store.open().record.settings = set;
    this.#dispatch({ type: "settings.changed", previous });
    return this.readSettings();
  }

  async describe(): Promise<AgentCodeInfo> {
    const version = await this.resolve();
    const { pinned } = await this.#getPackage();
    const { record, values } = this.store.open();
    const { description } = version;
    const { entries, chars } = values.measure();
    const process = await this.sandbox.describe(this.owner);
    const { state, stateJson, lastError } = record;
    return {
      package: version.package,
      displayName: version.displayName,
      version: version.version,
      pinned: pinned !== undefined,
      capabilities: version.capabilities,
      tools: summarizeTools(description),
      handles: description.handles,
      batch: description.batch,
      concurrency: description.concurrency,
      state: { keys: Object.keys(state).length, bytes: Buffer.byteLength(stateJson), maxBytes: maxStateBytes },
      storage: { entries, chars, maxChars: storageLimits.totalChars },
      requests: record.figures,
      ...(lastError ? { lastError } : {}),
      isApart: record.apart === version.hash,
      ...(process ? { process } : {}),
    };
  }

  async readLog(query: AgentLogQuery) {
    await this.#getPackage();
    return this.store.open().log.read(query);
  }

  /** Lets the code end what it has begun, because the agent is deleted. */
  async shutDown(): Promise<void> {
    const { version } = this.store.exists ? this.store.record : {};
    if (version === undefined) return;
    const timeout = new Promise<void>((resolve) => setTimeout(resolve, shutdownMs));
    await Promise.race([this.#runShutdown(version), timeout]);
    await this.sandbox.forget(this.owner, this.isolateName);
  }

  clear(): void {
    if (!this.store.exists) return;
    this.store.journal.clear();
    this.#dispatch({ type: "conversation.cleared" });
  }

  halt(): void {
    this.#ending.abort(new Error("The agent was deleted."));
  }

  state(): Partial<AgentState> {
    if (!this.store.exists) return {};
    const { version, state, stateJson } = this.store.record;
    if (version === undefined) return {};
    const shown = stateJson.length <= maxShownStateChars ? { state: this.#options.redactValue(state) } : {};
    return { code: { version, ...shown } };
  }

  export(): Pick<AgentExport, "code"> {
    if (!this.store.exists) return {};
    const { version, state, settings } = this.store.record;
    return version === undefined ? {} : { code: { version, state, settings } };
  }

  exportLists(): Record<string, Iterable<readonly unknown[]>> {
    if (!this.store.exists) return {};
    const { values } = this.store;
    function* readPages() {
      for (const [key, json] of values.readAll()) yield [{ key, value: JSON.parse(json) as unknown }];
    }
    return { codeValues: readPages() };
  }

  get #agency() {
    const { env, address } = this.#options;
    return env.Agency.getByName(address.agency);
  }

  async #getPackage(): Promise<{ name: string; pinned: number | undefined }> {
    const { config, name } = await this.#readBlueprint();
    const { isolate } = config ?? {};
    if (!isolate)
      throw fail(
        "not_found",
        `This agent has no code of its own: its blueprint “${name}” names no package. Deploy one: \`thinkery agent deploy <folder>\`.`,
      );
    return { name: isolate.package, pinned: isolate.version };
  }

  #readBlueprint(): Promise<Blueprint> {
    const { resolver, registration } = this.#options;
    return resolver.readBlueprint(registration.get());
  }

  async #find(version: number | undefined): Promise<CodeVersion> {
    const { name, pinned } = await this.#getPackage();
    const wanted = version ?? pinned;
    const found = await this.#agency.packages.find(name, wanted);
    if (found) return found;
    const missing = wanted === undefined ? `The package “${name}”` : `Version ${wanted} of the package “${name}”`;
    throw fail(
      "not_found",
      `${missing} is not deployed in this agency. Deploy it: \`thinkery agent deploy <folder>\`.`,
    );
  }

  async #update(): Promise<void> {
    await this.initialize(await this.resolve(), this.#ending.signal).catch((error: unknown) => {
      // It is in the agent's log; the next message tries again, and fails with it.
      if (!(error instanceof CodeError)) console.error("an agent could not take over a new version", error);
    });
  }

  async #replaceVersion(version: CodeVersion): Promise<void> {
    const { record } = this.store;
    const former = record.version;
    if (former !== undefined) await this.#runShutdown(former);
    await this.#requests.runHook("init", version);
    record.version = version.version;
  }

  /** What goes wrong here is in the agent's log, and holds up nothing. */
  async #runShutdown(version: number): Promise<void> {
    try {
      await this.#requests.runHook("shutdown", await this.#find(version));
    } catch (error) {
      if (!(error instanceof CodeError)) console.error("a version of an agent could not be shut down", error);
    }
  }

  #dispatch(event: CodeEvent): void {
    const send = async () => {
      const version = await this.resolve();
      if (!version.description.handles.event || this.store.record.version === undefined) return;
      await this.#requests.sendEvent(version, event);
    };
    const logError = (error: unknown) => {
      if (!(error instanceof CodeError)) console.error("an event could not be passed to an agent's code", error);
    };
    this.#options.waitUntil(send().catch(logError));
  }
}
