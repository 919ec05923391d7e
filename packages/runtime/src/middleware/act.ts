import type { Middleware, MiddlewareContext, NewEvent, Tool } from "@thinkery/sdk";
import { frozen, persisted } from "../store/persisted.ts";
import type { Stage } from "./stage.ts";

/** A middleware with its part of the blueprint's config. */
export interface Entry {
  middleware: Middleware<never>;
  config: unknown;
}

/** So many characters of kept values are written in one go: a row of the log has its limit. */
const longestWrite = 256 * 1024;

/** One middleware on its stage. What a hook changes counts when the hook comes back; of one that fails, nothing does. */
export class Act {
  readonly context: MiddlewareContext<never>;
  readonly #stage: Stage;
  readonly #name: string;
  #hooks = 0;
  #tools: Tool[] = [];
  readonly #changes = new Map<string, unknown>();

  constructor(stage: Stage, { middleware, config }: Entry) {
    this.#stage = stage;
    this.#name = middleware.name;
    this.context = this.#contextWith(frozen(config) as never);
  }

  begin(): void {
    this.#hooks++;
  }

  keep(): void {
    this.#hooks--;
    if (this.#tools.length > 0) this.#tools = [];
    if (this.#changes.size > 0) this.#write();
  }

  undo(): void {
    this.#hooks--;
    for (const tool of this.#tools) this.#stage.unregisterTool(tool);
    this.#tools = [];
    this.#changes.clear();
  }

  #contextWith(config: never): MiddlewareContext<never> {
    const stage = this.#stage;
    const { development } = stage;
    const change = (key: string, value: unknown) => this.#change(key, value);
    const kept = () => this.#kept();
    return {
      agent: stage.agent,
      runId: stage.runId,
      config,
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
        return persisted({ name: "state", value: kept(), development, write: change });
      },
      messages: () => stage.messages(),
      registerTool: (tool) => this.#register(tool),
      consult: (question) => stage.consult(question),
    };
  }

  #register(tool: Tool): void {
    this.#stage.registerTool(tool, `the middleware “${this.#name}”`);
    if (this.#hooks > 0) this.#tools.push(tool);
  }

  #change(key: string, value: unknown): void {
    this.#changes.set(key, value);
    // A tool that the middleware registered may use the context too.
    if (this.#hooks === 0) this.#write();
  }

  #kept(): Record<string, unknown> {
    const kept = this.#stage.kept(this.#name);
    for (const [key, value] of this.#changes) {
      if (value === undefined) delete kept[key];
      else kept[key] = value;
    }
    return kept;
  }

  #write(): void {
    let size = 0;
    for (const [key, value] of this.#changes) {
      const event: NewEvent = { type: "middleware.kept", data: { middlewareName: this.#name, key, value } };
      size += JSON.stringify(event).length;
      this.#stage.hold(event);
      if (size < longestWrite) continue;
      this.#stage.flush();
      size = 0;
    }
    this.#changes.clear();
  }
}
