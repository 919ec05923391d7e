import type {
  ChatMessage,
  ChildReport,
  MessageToolCall,
  Middleware,
  MiddlewareContext,
  NewEvent,
  ToolCallDecision,
} from "@thinkery/sdk";
import { createFrozenCopy } from "../store/persisted-object.ts";
import { HookScope, type PipelineEntry } from "./hook-scope.ts";
import { isPromise, PendingHook, describeError } from "./hook.ts";
import type { PlanDraft } from "./plan-draft.ts";
import type { Plan } from "./plan.ts";
import type { TurnScope } from "./turn-scope.ts";

/** Calls a hook with its arguments. */
type HookCall = (middleware: Middleware<never>, context: MiddlewareContext<never>) => unknown;

/** The combined decision of all `beforeTool` hooks on a call. */
type CombinedDecision = { deny: string } | { changed: boolean; input: unknown };

interface HookCallbacks {
  /** Called before each hook; returns what is committed if the hook completes and discarded if it fails. */
  begin?(): Pick<PlanDraft, "commit" | "discard">;
  /** Returns the event to record when a hook completed. */
  createEvent?(name: string): NewEvent;
  /** Called with the middleware's name if the hook throws or takes too long. */
  onFailure?(name: string): void;
}

const hooks = [
  "onInit",
  "onTick",
  "beforeModel",
  "onModelResult",
  "beforeTool",
  "onToolStart",
  "onToolResult",
  "onToolError",
  "onResume",
  "onChildReport",
] as const satisfies (keyof Middleware)[];

export type Hook = (typeof hooks)[number];

/** Maximum state that one middleware may add to the agent's, as JSON. */
const maxStateChars = 64 * 1024;

/** The middleware of one agent in order, indexed by hook. */
export class Pipeline {
  readonly entries: readonly PipelineEntry[];
  readonly #entriesByHook: ReadonlyMap<Hook, readonly PipelineEntry[]>;

  constructor(entries: readonly PipelineEntry[]) {
    this.entries = entries;
    this.#entriesByHook = new Map(hooks.map((hook) => [hook, entries.filter(({ middleware }) => middleware[hook])]));
  }

  getEntries(hook: Hook): readonly PipelineEntry[] {
    return this.#entriesByHook.get(hook) ?? [];
  }

  createRunner(turn: TurnScope): MiddlewareRunner {
    return new MiddlewareRunner(this, turn);
  }
}

/** Runs the hooks in one turn, or for one read of the agent's state. A hook that no middleware has costs nothing. */
export class MiddlewareRunner {
  readonly #pipeline: Pipeline;
  readonly #turn: TurnScope;
  readonly #hookScopes = new Map<PipelineEntry, HookScope>();

  constructor(pipeline: Pipeline, turn: TurnScope) {
    this.#pipeline = pipeline;
    this.#turn = turn;
  }

  has(hook: Hook): boolean {
    return this.#pipeline.getEntries(hook).length > 0;
  }

  runInit(): void | Promise<void> {
    return this.#runHook("onInit", (middleware, context) => middleware.onInit?.(context));
  }

  runTick(): void | Promise<void> {
    return this.#runHook("onTick", (middleware, context) => middleware.onTick?.(context));
  }

  runBeforeModel(plan: Plan): void | Promise<void> {
    let draft: PlanDraft;
    return this.#runHook("beforeModel", (middleware, context) => middleware.beforeModel?.(context, draft), {
      begin: () => (draft = plan.createDraft()),
      createEvent: (name) => this.#createEvent("middleware.before_model", name),
    });
  }

  runModelResult(message: ChatMessage): void | Promise<void> {
    return this.#runHook("onModelResult", (middleware, context) => middleware.onModelResult?.(context, { message }), {
      createEvent: (name) => this.#createEvent("middleware.after_model", name),
    });
  }

  /** Whether any hook observes running tool calls. */
  get observesTools(): boolean {
    return this.has("onToolStart") || this.has("onToolResult") || this.has("onToolError");
  }

  /** Each hook sees the input as changed by the hooks before it. The first denial wins; a hook that fails denies. */
  async runBeforeTool({ id, name, input: originalInput }: MessageToolCall): Promise<CombinedDecision> {
    let changed = false;
    let input = originalInput;
    let deny: string | undefined;
    const call: HookCall = async (middleware, context) => {
      if (deny !== undefined) return;
      const frozenCall = Object.freeze({ id, name, input: createFrozenCopy(input) });
      const decision = checkDecision(await middleware.beforeTool?.(context, frozenCall));
      if (!decision) return;
      if ("deny" in decision) deny = decision.deny;
      else [changed, input] = [true, decision.input];
    };
    await this.#runHook("beforeTool", call, {
      onFailure: (middleware) => {
        deny ??= `The middleware “${middleware}” could not check this call of ${name}, so it was not made.`;
      },
    });
    return deny === undefined ? { changed, input } : { deny };
  }

  runToolStart(call: MessageToolCall): void | Promise<void> {
    return this.#runHook("onToolStart", (middleware, context) => middleware.onToolStart?.(context, call));
  }

  runToolResult(call: MessageToolCall, result: unknown): void | Promise<void> {
    return this.#runHook("onToolResult", (middleware, context) => middleware.onToolResult?.(context, call, result));
  }

  runToolError(call: MessageToolCall, error: Error): void | Promise<void> {
    return this.#runHook("onToolError", (middleware, context) => middleware.onToolError?.(context, call, error));
  }

  runResume(reason: string, payload: unknown): void | Promise<void> {
    return this.#runHook("onResume", (middleware, context) => middleware.onResume?.(context, reason, payload));
  }

  runChildReport(child: ChildReport): void | Promise<void> {
    return this.#runHook("onChildReport", (middleware, context) => middleware.onChildReport?.(context, child));
  }

  /** Returns what the middleware adds to the agent's state. One that fails adds the error instead. */
  collectState(): Record<string, unknown> {
    const state: Record<string, unknown> = {};
    for (const entry of this.#pipeline.entries) {
      const { middleware } = entry;
      if (!middleware.state) continue;
      try {
        Object.assign(state, toPlainState(middleware.state(this.#getHookScope(entry).context)));
      } catch (error) {
        state[middleware.name] = { error: describeError(error) };
      }
    }
    return state;
  }

  // Returns no promise if there is no hook: a turn has many such points, and each hop of the event loop counts.
  #runHook(hook: Hook, call: HookCall, callbacks: HookCallbacks = {}): void | Promise<void> {
    const entries = this.#pipeline.getEntries(hook);
    return entries.length === 0 ? undefined : this.#runEntries(hook, entries, call, callbacks);
  }

  async #runEntries(
    hook: Hook,
    entries: readonly PipelineEntry[],
    call: HookCall,
    { begin, createEvent, onFailure }: HookCallbacks,
  ): Promise<void> {
    const turn = this.#turn;
    for (const entry of entries) {
      // A cancelation does not wait for the remaining hooks.
      turn.signal.throwIfAborted();
      const { middleware } = entry;
      const hookScope = this.#getHookScope(entry);
      const attempt = begin?.();
      hookScope.begin();
      try {
        const result: unknown = call(middleware, hookScope.context);
        if (isPromise(result)) await new PendingHook(result).wait(turn.hookTimeoutSeconds, turn.flush);
      } catch (error) {
        hookScope.rollback();
        attempt?.discard();
        onFailure?.(middleware.name);
        if (!turn.signal.aborted) this.#recordFailure(middleware.name, hook, error);
        continue;
      }
      hookScope.commit();
      attempt?.commit();
      if (createEvent) turn.hold(createEvent(middleware.name));
    }
    turn.signal.throwIfAborted();
  }

  #recordFailure(middlewareName: string, hook: Hook, thrown: unknown): void {
    const error = describeError(thrown);
    console.error(
      `the middleware ${middlewareName} failed in ${hook}: ${error}`,
      thrown instanceof Error ? thrown.stack : "",
    );
    this.#turn.hold({
      type: "middleware.failed",
      data: { runId: this.#turn.runId, step: this.#turn.step(), middlewareName, hook, error },
    });
  }

  #createEvent(type: "middleware.before_model" | "middleware.after_model", middlewareName: string): NewEvent {
    return { type, data: { runId: this.#turn.runId, step: this.#turn.step(), middlewareName } };
  }

  #getHookScope(entry: PipelineEntry): HookScope {
    let hookScope = this.#hookScopes.get(entry);
    if (!hookScope) {
      hookScope = new HookScope(this.#turn, entry);
      this.#hookScopes.set(entry, hookScope);
    }
    return hookScope;
  }
}

const maxReasonChars = 2000;

function checkDecision(decision: unknown): ToolCallDecision | undefined {
  if (decision === undefined || decision === null) return undefined;
  const { deny, input } = Object(decision) as { deny?: unknown; input?: unknown };
  if (typeof deny === "string") return { deny: deny.slice(0, maxReasonChars) || "A middleware denied this call." };
  if (input !== undefined && deny === undefined) return { input };
  throw new Error("beforeTool must return nothing, { input } or { deny: reason }.");
}

function toPlainState(added: unknown): object {
  if (typeof added !== "object" || added === null || Array.isArray(added) || "then" in added) {
    throw new Error("state() must return an object synchronously.");
  }
  const text = JSON.stringify(added);
  if (text.length > maxStateChars)
    throw new Error(`state() returned ${text.length} characters of JSON; the maximum is ${maxStateChars}.`);
  return JSON.parse(text) as object;
}
