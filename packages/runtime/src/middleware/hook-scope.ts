import type {
  ChatMessage,
  GenerateOptions,
  Middleware,
  MiddlewareContext,
  NewEvent,
  Props,
  Run,
  ThreadInfo,
  Tool,
} from "@thinkery/sdk";
import { deepFreeze, createPersistedObject } from "../store/persisted-object.ts";
import type { TurnScope } from "./turn-scope.ts";

/** A middleware with its part of the blueprint's config. */
export interface PipelineEntry {
  middleware: Middleware<never>;
  config: unknown;
}

/** Characters of state after which a write is flushed: a row of the log is limited in size. */
const maxWrittenChars = 256 * 1024;

/** One middleware in a turn. A hook's changes take effect when it completes; those of a failed hook are discarded. */
export class HookScope {
  readonly turn: TurnScope;
  readonly context: MiddlewareContext<never>;
  readonly config: unknown;
  readonly #name: string;
  #runningHooks = 0;
  #tools: Tool[] | undefined;
  #changes: Map<string, unknown> | undefined;

  constructor(turn: TurnScope, { middleware, config }: PipelineEntry) {
    this.turn = turn;
    this.config = deepFreeze(config);
    this.#name = middleware.name;
    this.context = new HookContext(this);
  }

  begin(): void {
    this.#runningHooks++;
  }

  commit(): void {
    this.#runningHooks--;
    this.#tools = undefined;
    this.#write();
  }

  rollback(): void {
    this.#runningHooks--;
    for (const tool of this.#tools ?? []) this.turn.unregisterTool(tool);
    this.#tools = undefined;
    this.#changes = undefined;
  }

  register(tool: Tool): void {
    this.turn.registerTool(tool, this.#name);
    if (this.#runningHooks > 0) (this.#tools ??= []).push(tool);
  }

  setState(key: string, value: unknown): void {
    (this.#changes ??= new Map()).set(key, value);
    // Outside a hook: a tool that the middleware registered may use the context too.
    if (this.#runningHooks === 0) this.#write();
  }

  getState(): Record<string, unknown> {
    const state = this.turn.getState(this.#name);
    for (const [key, value] of this.#changes ?? []) {
      if (value === undefined) delete state[key];
      else state[key] = value;
    }
    return state;
  }

  #write(): void {
    if (!this.#changes) return;
    let size = 0;
    for (const [key, value] of this.#changes) {
      const event: NewEvent = { type: "middleware.state_changed", data: { middlewareName: this.#name, key, value } };
      size += JSON.stringify(event).length;
      this.turn.hold(event);
      if (size < maxWrittenChars) continue;
      this.turn.flush();
      size = 0;
    }
    this.#changes = undefined;
  }
}

/** Everything is created on access, because every middleware of every turn has a context. */
class HookContext implements MiddlewareContext<never> {
  readonly #scope: HookScope;

  constructor(scope: HookScope) {
    this.#scope = scope;
  }

  get agent(): string {
    return this.#scope.turn.agent;
  }

  get info(): ThreadInfo {
    const { turn } = this.#scope;
    return createPersistedObject({ name: "info", value: turn.info(), development: turn.development });
  }

  get run(): Run {
    const { turn } = this.#scope;
    return createPersistedObject({ name: "run", value: turn.run(), development: turn.development });
  }

  get runId(): string {
    return this.#scope.turn.runId;
  }

  get step(): number {
    return this.#scope.turn.step();
  }

  get config(): never {
    return this.#scope.config as never;
  }

  get props(): Props {
    return this.#scope.turn.props;
  }

  get state(): Record<string, unknown> {
    const scope = this.#scope;
    return createPersistedObject({
      name: "state",
      value: scope.getState(),
      development: scope.turn.development,
      write: (key, value) => scope.setState(key, value),
    });
  }

  get signal(): AbortSignal {
    return this.#scope.turn.signal;
  }

  // Getters that return closures, so that they can be destructured from the context.
  get messages(): () => ChatMessage[] {
    return () => this.#scope.turn.messages();
  }

  get registerTool(): (tool: Tool) => void {
    return (tool) => this.#scope.register(tool);
  }

  get generate(): (options: GenerateOptions) => Promise<string> {
    return (options) => this.#scope.turn.generate(options);
  }
}
