import type { ChatMessage, GenerateOptions, Middleware, MiddlewareContext, NewEvent, Props, Run, ThreadInfo, Tool } from "@thinkery/sdk";
import { frozen, persisted } from "../store/persisted.ts";
import type { Stage } from "./stage.ts";

/** A middleware with its part of the blueprint's config. */
export interface Entry {
  middleware: Middleware<never>;
  config: unknown;
}

/** So many characters of kept values are written in one go: a row of the log has its limit. */
const maxWrittenChars = 256 * 1024;

/** One middleware on its stage. What a hook changes counts when the hook comes back; of one that fails, nothing does. */
export class Act {
  readonly stage: Stage;
  readonly context: MiddlewareContext<never>;
  readonly config: unknown;
  readonly #name: string;
  #hooks = 0;
  #tools: Tool[] | undefined;
  #changes: Map<string, unknown> | undefined;

  constructor(stage: Stage, { middleware, config }: Entry) {
    this.stage = stage;
    this.config = frozen(config);
    this.#name = middleware.name;
    this.context = new Context(this);
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
    for (const tool of this.#tools ?? []) this.stage.unregisterTool(tool);
    this.#tools = undefined;
    this.#changes = undefined;
  }

  register(tool: Tool): void {
    this.stage.registerTool(tool, `the middleware “${this.#name}”`);
    if (this.#hooks > 0) (this.#tools ??= []).push(tool);
  }

  change(key: string, value: unknown): void {
    (this.#changes ??= new Map()).set(key, value);
    // A tool that the middleware registered may use the context too.
    if (this.#hooks === 0) this.#write();
  }

  kept(): Record<string, unknown> {
    const kept = this.stage.kept(this.#name);
    for (const [key, value] of this.#changes ?? []) {
      if (value === undefined) delete kept[key];
      else kept[key] = value;
    }
    return kept;
  }

  #write(): void {
    if (!this.#changes) return;
    let size = 0;
    for (const [key, value] of this.#changes) {
      const event: NewEvent = { type: "middleware.kept", data: { middlewareName: this.#name, key, value } };
      size += JSON.stringify(event).length;
      this.stage.hold(event);
      if (size < maxWrittenChars) continue;
      this.stage.flush();
      size = 0;
    }
    this.#changes = undefined;
  }
}

/** Nothing is made before it is asked for: every middleware of every turn has one. */
class Context implements MiddlewareContext<never> {
  readonly #act: Act;

  constructor(act: Act) {
    this.#act = act;
  }

  get agent(): string {
    return this.#act.stage.agent;
  }

  get info(): ThreadInfo {
    const { stage } = this.#act;
    return persisted({ name: "info", value: stage.info(), development: stage.development });
  }

  get run(): Run {
    const { stage } = this.#act;
    return persisted({ name: "run", value: stage.run(), development: stage.development });
  }

  get runId(): string {
    return this.#act.stage.runId;
  }

  get step(): number {
    return this.#act.stage.step();
  }

  get config(): never {
    return this.#act.config as never;
  }

  get props(): Props {
    return this.#act.stage.props;
  }

  get state(): Record<string, unknown> {
    const act = this.#act;
    return persisted({ name: "state", value: act.kept(), development: act.stage.development, write: (key, value) => act.change(key, value) });
  }

  get signal(): AbortSignal {
    return this.#act.stage.signal;
  }

  // Functions of their own, so that they can be taken out of the context.
  get messages(): () => ChatMessage[] {
    return () => this.#act.stage.messages();
  }

  get registerTool(): (tool: Tool) => void {
    return (tool) => this.#act.register(tool);
  }

  get generate(): (question: GenerateOptions) => Promise<string> {
    return (question) => this.#act.stage.consult(question);
  }
}
