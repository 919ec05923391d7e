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

/** So many characters of kept values are written in one go: a row of the log has its limit. */
const maxWrittenChars = 256 * 1024;

/** One middleware on its stage. What a hook changes counts when the hook comes back; of one that fails, nothing does. */
export class HookScope {
  readonly turn: TurnScope;
  readonly context: MiddlewareContext<never>;
  readonly config: unknown;
  readonly #name: string;
  #hooks = 0;
  #tools: Tool[] | undefined;
  #changes: Map<string, unknown> | undefined;

  constructor(stage: TurnScope, { middleware, config }: PipelineEntry) {
    this.turn = stage;
    this.config = deepFreeze(config);
    this.#name = middleware.name;
    this.context = new HookContext(this);
  }

  begin(): void {
    this.#hooks++;
  }

  keep(): void {
    this.#hooks--;
    this.#tools = undefined;
    this.#write();
  }

  undo(): void {
    this.#hooks--;
    for (const tool of this.#tools ?? []) this.turn.unregisterTool(tool);
    this.#tools = undefined;
    this.#changes = undefined;
  }

  register(tool: Tool): void {
    this.turn.registerTool(tool, `the middleware “${this.#name}”`);
    if (this.#hooks > 0) (this.#tools ??= []).push(tool);
  }

  change(key: string, value: unknown): void {
    (this.#changes ??= new Map()).set(key, value);
    // A tool that the middleware registered may use the context too.
    if (this.#hooks === 0) this.#write();
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

/** Nothing is made before it is asked for: every middleware of every turn has one. */
class HookContext implements MiddlewareContext<never> {
  readonly #scope: HookScope;

  constructor(act: HookScope) {
    this.#scope = act;
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
      write: (key, value) => scope.change(key, value),
    });
  }

  get signal(): AbortSignal {
    return this.#scope.turn.signal;
  }

  // Functions of their own, so that they can be taken out of the context.
  get messages(): () => ChatMessage[] {
    return () => this.#scope.turn.messages();
  }

  get registerTool(): (tool: Tool) => void {
    return (tool) => this.#scope.register(tool);
  }

  get generate(): (question: GenerateOptions) => Promise<string> {
    return (question) => this.#scope.turn.consult(question);
  }
}
