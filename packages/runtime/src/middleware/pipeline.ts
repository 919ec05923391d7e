import type { ChatMessage, ChildReport, Consultation, MessageToolCall, Middleware, MiddlewareContext, NewEvent, Props, Run, ThreadInfo, Tool } from "@thinkery/sdk";
import { persisted } from "../store/persisted.ts";
import { bounded } from "./hook.ts";
import type { Plan } from "./plan.ts";

/** What middleware sees of the agent it is in: during a turn, or between two. */
export interface Stage {
  agent: string;
  runId: string;
  step(): number;
  info(): ThreadInfo;
  run(): Run;
  props: Props;
  signal: AbortSignal;
  messages(): ChatMessage[];
  registerTool(tool: Tool, from: string): void;
  consult(question: Consultation): Promise<string>;
  /** Values that a middleware kept, and how it keeps another. */
  kept(middleware: string): Record<string, unknown>;
  /** Writes facts with whatever is written next, and before anything else can happen. */
  hold(...events: NewEvent[]): void;
  development: boolean;
  hookSeconds: number;
}

type Entry = { middleware: Middleware<never>; config: unknown };

/** A hook with what it is given beside the context. */
type Call = (middleware: Middleware<never>, context: MiddlewareContext<never>) => void | Promise<void>;

const hooks = [
  "onInit",
  "onTick",
  "beforeModel",
  "onModelResult",
  "onToolStart",
  "onToolResult",
  "onToolError",
  "onResume",
  "onChildReport",
] as const satisfies (keyof Middleware)[];

export type Hook = (typeof hooks)[number];

/** The middleware of one agent in its order, sorted by the hooks that each of them has. */
export class Pipeline {
  readonly #entries: readonly Entry[];
  readonly #by: ReadonlyMap<Hook, readonly Entry[]>;

  constructor(entries: readonly Entry[]) {
    this.#entries = entries;
    this.#by = new Map(hooks.map((hook) => [hook, entries.filter(({ middleware }) => middleware[hook])]));
  }

  has(hook: Hook): boolean {
    return this.of(hook).length > 0;
  }

  of(hook: Hook): readonly Entry[] {
    return this.#by.get(hook) ?? [];
  }

  get entries(): readonly Entry[] {
    return this.#entries;
  }

  on(stage: Stage): Performance {
    return new Performance(this, stage);
  }
}

/** The pipeline at work: during one turn, or for one look at the agent. Where no middleware has a hook, it costs nothing. */
export class Performance {
  readonly #pipeline: Pipeline;
  readonly #stage: Stage;
  readonly #contexts = new Map<Entry, MiddlewareContext<never>>();

  constructor(pipeline: Pipeline, stage: Stage) {
    this.#pipeline = pipeline;
    this.#stage = stage;
  }

  has(hook: Hook): boolean {
    return this.#pipeline.has(hook);
  }

  init(): void | Promise<void> {
    return this.#each("onInit", (middleware, context) => middleware.onInit?.(context));
  }

  tick(): void | Promise<void> {
    return this.#each("onTick", (middleware, context) => middleware.onTick?.(context));
  }

  beforeModel(plan: Plan): void | Promise<void> {
    return this.#each(
      "beforeModel",
      (middleware, context) => middleware.beforeModel?.(context, plan),
      (name) => this.#event("middleware.before_model", name),
      () => plan.savepoint(),
    );
  }

  modelResult(message: ChatMessage): void | Promise<void> {
    return this.#each(
      "onModelResult",
      (middleware, context) => middleware.onModelResult?.(context, { message }),
      (name) => this.#event("middleware.after_model", name),
    );
  }

  toolStart(call: MessageToolCall): void | Promise<void> {
    return this.#each("onToolStart", (middleware, context) => middleware.onToolStart?.(context, call));
  }

  toolResult(call: MessageToolCall, result: unknown): void | Promise<void> {
    return this.#each("onToolResult", (middleware, context) => middleware.onToolResult?.(context, call, result));
  }

  toolError(call: MessageToolCall, error: Error): void | Promise<void> {
    return this.#each("onToolError", (middleware, context) => middleware.onToolError?.(context, call, error));
  }

  resume(reason: string, payload: unknown): void | Promise<void> {
    return this.#each("onResume", (middleware, context) => middleware.onResume?.(context, reason, payload));
  }

  childReport(child: ChildReport): void | Promise<void> {
    return this.#each("onChildReport", (middleware, context) => middleware.onChildReport?.(context, child));
  }

  /** What the middleware adds to the agent's state. One that fails adds the reason instead. */
  state(): Record<string, unknown> {
    const state: Record<string, unknown> = {};
    for (const entry of this.#pipeline.entries) {
      const { middleware } = entry;
      if (!middleware.state) continue;
      try {
        Object.assign(state, JSON.parse(JSON.stringify(middleware.state(this.#context(entry)) ?? {})));
      } catch (error) {
        state[middleware.name] = { error: messageOf(error) };
      }
    }
    return state;
  }

  // No promise where there is no hook: a turn has many such points, and each hop of the event loop counts.
  #each(hook: Hook, call: Call, after?: (name: string) => NewEvent, savepoint?: () => () => void): void | Promise<void> {
    const entries = this.#pipeline.of(hook);
    return entries.length === 0 ? undefined : this.#all(hook, entries, call, after, savepoint);
  }

  async #all(hook: Hook, entries: readonly Entry[], call: Call, after?: (name: string) => NewEvent, savepoint?: () => () => void): Promise<void> {
    const { hookSeconds, signal } = this.#stage;
    for (const entry of entries) {
      const { middleware } = entry;
      const undo = savepoint?.();
      try {
        const pending = bounded(() => call(middleware, this.#context(entry)), hookSeconds);
        if (pending) await pending;
        if (after) this.#stage.hold(after(middleware.name));
      } catch (error) {
        undo?.();
        this.#failed(middleware.name, hook, error);
      }
      signal.throwIfAborted();
    }
  }

  #failed(middlewareName: string, hook: Hook, error: unknown): void {
    const { runId } = this.#stage;
    console.error(`middleware ${middlewareName} failed in ${hook}`, error);
    this.#stage.hold({ type: "middleware.failed", data: { runId, step: this.#stage.step(), middlewareName, hook, error: messageOf(error) } });
  }

  #event(type: "middleware.before_model" | "middleware.after_model", middlewareName: string): NewEvent {
    return { type, data: { runId: this.#stage.runId, step: this.#stage.step(), middlewareName } };
  }

  #context(entry: Entry): MiddlewareContext<never> {
    let context = this.#contexts.get(entry);
    if (!context) {
      context = contextOf(this.#stage, entry);
      this.#contexts.set(entry, context);
    }
    return context;
  }
}

function contextOf(stage: Stage, { middleware, config }: Entry): MiddlewareContext<never> {
  const { name } = middleware;
  const { development } = stage;
  let state: Record<string, unknown> | undefined;
  return {
    agent: stage.agent,
    runId: stage.runId,
    config: config as never,
    props: stage.props,
    signal: stage.signal,
    get step() {
      return stage.step();
    },
    get info() {
      return persisted({ name: "info", value: stage.info(), development });
    },
    get run() {
      return persisted({ name: "run", value: stage.run(), development });
    },
    get state() {
      state ??= persisted({
        name: "state",
        value: stage.kept(name),
        development,
        write: (key, value) => stage.hold({ type: "middleware.kept", data: { middlewareName: name, key, value } }),
      });
      return state;
    },
    messages: () => stage.messages(),
    registerTool: (tool) => stage.registerTool(tool, `the middleware “${name}”`),
    consult: (question) => stage.consult(question),
  };
}

function messageOf(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).slice(0, 1000);
}
