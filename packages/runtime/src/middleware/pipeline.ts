import type { ChatMessage, ChildReport, MessageToolCall, Middleware, MiddlewareContext, NewEvent, ToolCallDecision } from "@thinkery/sdk";
import { frozenCopy } from "../store/persisted.ts";
import { Act, type Entry } from "./act.ts";
import { isPromise, Pending, wordsOf } from "./hook.ts";
import type { Plan } from "./plan.ts";
import type { PlanDraft } from "./plan-draft.ts";
import type { Stage } from "./stage.ts";

/** A hook with what it is given beside the context. */
type Call = (middleware: Middleware<never>, context: MiddlewareContext<never>) => unknown;

/** What all `beforeTool` hooks together make of a call. */
type CombinedDecision = { deny: string } | { changed: boolean; input: unknown };

interface Around {
  /** Something that counts only if the hook comes back. */
  begin?(): Pick<PlanDraft, "keep" | "drop">;
  /** The fact that it did. */
  after?(name: string): NewEvent;
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

/** What one middleware may add to the agent's state. */
const maxStateChars = 64 * 1024;

/** The middleware of one agent in its order, sorted by the hooks that each of them has. */
export class Pipeline {
  readonly entries: readonly Entry[];
  readonly #by: ReadonlyMap<Hook, readonly Entry[]>;

  constructor(entries: readonly Entry[]) {
    this.entries = entries;
    this.#by = new Map(hooks.map((hook) => [hook, entries.filter(({ middleware }) => middleware[hook])]));
  }

  of(hook: Hook): readonly Entry[] {
    return this.#by.get(hook) ?? [];
  }

  on(stage: Stage): Performance {
    return new Performance(this, stage);
  }
}

/** The pipeline at work: during one turn, or for one look at the agent. Where no middleware has a hook, it costs nothing. */
export class Performance {
  readonly #pipeline: Pipeline;
  readonly #stage: Stage;
  readonly #acts = new Map<Entry, Act>();

  constructor(pipeline: Pipeline, stage: Stage) {
    this.#pipeline = pipeline;
    this.#stage = stage;
  }

  has(hook: Hook): boolean {
    return this.#pipeline.of(hook).length > 0;
  }

  init(): void | Promise<void> {
    return this.#each("onInit", (middleware, context) => middleware.onInit?.(context));
  }

  tick(): void | Promise<void> {
    return this.#each("onTick", (middleware, context) => middleware.onTick?.(context));
  }

  beforeModel(plan: Plan): void | Promise<void> {
    let draft: PlanDraft;
    return this.#each("beforeModel", (middleware, context) => middleware.beforeModel?.(context, draft), {
      begin: () => (draft = plan.draft()),
      after: (name) => this.#event("middleware.before_model", name),
    });
  }

  modelResult(message: ChatMessage): void | Promise<void> {
    return this.#each("onModelResult", (middleware, context) => middleware.onModelResult?.(context, { message }), {
      after: (name) => this.#event("middleware.after_model", name),
    });
  }

  /** Whether any hook looks at tool calls that run. */
  get observesTools(): boolean {
    return this.has("onToolStart") || this.has("onToolResult") || this.has("onToolError");
  }

  /** Each hook sees the input as the one before left it; the first veto counts. A hook that fails vetoes. */
  async beforeTool({ id, name, input: given }: MessageToolCall): Promise<CombinedDecision> {
    let changed = false;
    let input = given;
    let deny: string | undefined;
    const call: Call = async (middleware, context) => {
      if (deny !== undefined) return;
      const shown = Object.freeze({ id, name, input: frozenCopy(input) });
      const decision = checkDecision(await middleware.beforeTool?.(context, shown));
      if (!decision) return;
      if ("deny" in decision) deny = decision.deny;
      else [changed, input] = [true, decision.input];
    };
    await this.#each("beforeTool", call, {
      onFailure: (middleware) => {
        deny ??= `The middleware “${middleware}” could not check this call of ${name}, so it was not made.`;
      },
    });
    return deny === undefined ? { changed, input } : { deny };
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
        Object.assign(state, plainState(middleware.state(this.#act(entry).context)));
      } catch (error) {
        state[middleware.name] = { error: wordsOf(error) };
      }
    }
    return state;
  }

  // No promise where there is no hook: a turn has many such points, and each hop of the event loop counts.
  #each(hook: Hook, call: Call, around: Around = {}): void | Promise<void> {
    const entries = this.#pipeline.of(hook);
    return entries.length === 0 ? undefined : this.#all(hook, entries, call, around);
  }

  async #all(hook: Hook, entries: readonly Entry[], call: Call, { begin, after, onFailure }: Around): Promise<void> {
    const stage = this.#stage;
    for (const entry of entries) {
      // Whoever canceled the turn does not wait for the others.
      stage.signal.throwIfAborted();
      const { middleware } = entry;
      const act = this.#act(entry);
      const attempt = begin?.();
      act.begin();
      try {
        const result: unknown = call(middleware, act.context);
        if (isPromise(result)) await new Pending(result).over(stage.hookSeconds, stage.flush);
      } catch (error) {
        act.undo();
        attempt?.drop();
        onFailure?.(middleware.name);
        if (!stage.signal.aborted) this.#failed(middleware.name, hook, error);
        continue;
      }
      act.keep();
      attempt?.keep();
      if (after) stage.hold(after(middleware.name));
    }
    stage.signal.throwIfAborted();
  }

  #failed(middlewareName: string, hook: Hook, thrown: unknown): void {
    const error = wordsOf(thrown);
    console.error(`the middleware ${middlewareName} failed in ${hook}: ${error}`, thrown instanceof Error ? thrown.stack : "");
    this.#stage.hold({ type: "middleware.failed", data: { runId: this.#stage.runId, step: this.#stage.step(), middlewareName, hook, error } });
  }

  #event(type: "middleware.before_model" | "middleware.after_model", middlewareName: string): NewEvent {
    return { type, data: { runId: this.#stage.runId, step: this.#stage.step(), middlewareName } };
  }

  #act(entry: Entry): Act {
    let act = this.#acts.get(entry);
    if (!act) {
      act = new Act(this.#stage, entry);
      this.#acts.set(entry, act);
    }
    return act;
  }
}

const maxReasonChars = 2000;

function checkDecision(decision: unknown): ToolCallDecision | undefined {
  if (decision === undefined || decision === null) return undefined;
  const { deny, input } = Object(decision) as { deny?: unknown; input?: unknown };
  if (typeof deny === "string") return { deny: deny.slice(0, maxReasonChars) || "A middleware refused this call." };
  if (input !== undefined && deny === undefined) return { input };
  throw new Error("beforeTool must return nothing, { input } or { deny: reason }.");
}

function plainState(added: unknown): object {
  if (typeof added !== "object" || added === null || Array.isArray(added) || "then" in added) {
    throw new Error("state() has to answer an object, and at once.");
  }
  const text = JSON.stringify(added);
  if (text.length > maxStateChars) throw new Error(`state() answered ${text.length} characters of JSON; there is room for ${maxStateChars}.`);
  return JSON.parse(text) as object;
}
