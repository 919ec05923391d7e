import type { AgentCodeInfo, SettingValue } from "@thinkery/sdk";
import type { AgentState, JsonValue, StateChanges } from "@thinkery/sdk/agent-host";

export type CodeFigures = AgentCodeInfo["requests"];

export type CodeFailure = NonNullable<AgentCodeInfo["lastError"]>;

interface Row extends Record<string, SqlStorageValue> {
  version: number | null;
  settings: string;
  figures: string;
  last_error: string | null;
  apart: string | null;
}

const noFigures: CodeFigures = { total: 0, failed: 0, ms: 0, longestMs: 0, hostCalls: 0, modelCalls: 0 };

/** What an agent's code keeps between requests, and what is known of the code. */
export class CodeRecord {
  readonly #sql: SqlStorage;
  #cached: Row | undefined;
  /** In a table of its own: it may be large, and the rest changes with every request. */
  #cachedState: string | undefined;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  /** The version whose `onInit` has run. */
  get version(): number | undefined {
    return this.#row.version ?? undefined;
  }

  set version(version: number) {
    this.#update({ version });
  }

  get state(): AgentState {
    return JSON.parse(this.stateJson) as AgentState;
  }

  get stateJson(): string {
    this.#cachedState ??= this.#sql.exec<{ state: string }>("SELECT state FROM code_state").toArray()[0]?.state;
    return this.#cachedState ?? "{}";
  }

  /** Merges changes key by key: requests that run at the same time change the same state. */
  changeState({ set, deleted }: StateChanges): void {
    if (Object.keys(set).length === 0 && deleted.length === 0) return;
    // A map, because keys such as `__proto__` are keys like all others.
    const state = new Map<string, JsonValue>(Object.entries(this.state));
    for (const key of deleted) state.delete(key);
    for (const [key, value] of Object.entries(set)) state.set(key, value);
    const json = JSON.stringify(Object.fromEntries(state));
    this.#cachedState = undefined;
    this.#sql.exec("INSERT OR REPLACE INTO code_state (only, state) VALUES (1, ?)", json);
    this.#cachedState = json;
  }

  /** The settings that were set. */
  get settings(): Record<string, SettingValue> {
    return JSON.parse(this.#row.settings) as Record<string, SettingValue>;
  }

  set settings(settings: Record<string, SettingValue>) {
    this.#update({ settings: JSON.stringify(settings) });
  }

  get figures(): CodeFigures {
    return { ...noFigures, ...(JSON.parse(this.#row.figures) as Partial<CodeFigures>) };
  }

  addFigures({ failed, ms, hostCalls, modelCalls }: Omit<CodeFigures, "total" | "longestMs">): void {
    const former = this.figures;
    const figures: CodeFigures = {
      total: former.total + 1,
      failed: former.failed + failed,
      ms: former.ms + ms,
      longestMs: Math.max(former.longestMs, ms),
      hostCalls: former.hostCalls + hostCalls,
      modelCalls: former.modelCalls + modelCalls,
    };
    this.#update({ figures: JSON.stringify(figures) });
  }

  get lastError(): CodeFailure | undefined {
    const { last_error: json } = this.#row;
    return json === null ? undefined : (JSON.parse(json) as CodeFailure);
  }

  set lastError(failure: CodeFailure) {
    this.#update({ last_error: JSON.stringify(failure) });
  }

  /** The hash of code that ended a shared process, and runs in one of its own until it changes. */
  get apart(): string | undefined {
    return this.#row.apart ?? undefined;
  }

  set apart(hash: string) {
    this.#update({ apart: hash });
  }

  /** Drops what is cached, because changes were rolled back. */
  reload(): void {
    this.#cached = undefined;
    this.#cachedState = undefined;
  }

  get #row(): Row {
    this.#cached ??= this.#sql.exec<Row>("SELECT * FROM code").toArray()[0];
    return this.#cached ?? { version: null, settings: "{}", figures: "{}", last_error: null, apart: null };
  }

  #update(changes: Partial<Row>): void {
    const row = { ...this.#row, ...changes } as Row;
    this.#cached = undefined;
    this.#sql.exec(
      "INSERT OR REPLACE INTO code (only, version, settings, figures, last_error, apart) VALUES (1, ?, ?, ?, ?, ?)",
      row.version,
      row.settings,
      row.figures,
      row.last_error,
      row.apart,
    );
    this.#cached = row;
  }
}
