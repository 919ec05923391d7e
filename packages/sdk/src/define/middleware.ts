import type { z } from "zod";
import type { Agent } from "../protocol/agent.ts";
import type { MessageToolCall } from "../protocol/message.ts";
import type { Props } from "../protocol/props.ts";
import type { ChatMessage, Run } from "../protocol/turn.ts";
import type { GenerateOptions } from "./generate-options.ts";
import type { ModelPlan } from "./plan.ts";
import type { Tool } from "./tool.ts";

/** The agent as it was created, and the context of the latest request to it. */
export interface ThreadInfo extends Agent {
  request: Record<string, string>;
}

/**
 * What hooks can read and do. `info`, `run` and `state` are persisted, so never mutate their contents in place. Assign
 * new values to the keys of `state` instead; it is private to this middleware and this agent.
 */
export interface MiddlewareContext<Config = unknown> {
  /** `agency~agent` */
  readonly agent: string;
  readonly info: Readonly<ThreadInfo>;
  readonly run: Readonly<Run>;
  /** The id of the turn. Empty outside a turn. */
  readonly runId: string;
  readonly step: number;
  /** The blueprint's config, parsed with this middleware's schema. */
  readonly config: Config;
  readonly props: Props;
  readonly state: Record<string, unknown>;
  readonly signal: AbortSignal;
  /** Returns the whole stored conversation, oldest message first. */
  messages(): readonly ChatMessage[];
  /**
   * Adds a tool to the agent. Called in `onInit`, the tool stays; called in any other hook, it lasts until the turn
   * ends or a crash interrupts it.
   */
  registerTool(tool: Tool): void;
  /** Calls a model outside the conversation. Usage and budgets count the call. */
  generate(options: GenerateOptions): Promise<string>;
}

type Awaitable = void | Promise<void>;

/** The result of a deferred tool call, from a child agent or anyone else. */
export interface ChildReport {
  callId: string;
  toolName: string;
  report: string;
  failed: boolean;
  /** The sub-agent that reported, and its task, if it worked in the background. */
  threadId?: string;
  taskId?: string;
}

/** What `beforeTool` may return: a new input, or the reason for rejecting the call, which the caller reads. */
export type ToolCallDecision = { input: unknown } | { deny: string };

/**
 * Code that takes part in the turns of agents that share one of its tags. Hooks run one after the other, in the order
 * in which the middleware was added. If a hook throws or times out, the failure is logged, everything the hook changed
 * is rolled back, and the turn continues.
 */
export interface Middleware<Config extends object = object, ConfigInput extends object = Config> {
  name: string;
  tags?: readonly string[];
  /** Schema of the keys that this middleware reads from a blueprint's `config`. Hooks get its output. */
  configSchema?: z.ZodType<Config, ConfigInput>;
  /** Returns values to add to the agent's state (`GET /agency/:agency/agent/:agent/state`). */
  state?(context: MiddlewareContext<Config>): Record<string, unknown>;
  /** Runs when the agent wakes up or its blueprint changes. */
  onInit?(context: MiddlewareContext<Config>): Awaitable;
  /** Runs at the start of each step. */
  onTick?(context: MiddlewareContext<Config>): Awaitable;
  /** Runs before each model call and may change the request. */
  beforeModel?(context: MiddlewareContext<Config>, plan: ModelPlan): Awaitable;
  /** Runs after each model call, before its tool calls are made. */
  onModelResult?(context: MiddlewareContext<Config>, result: { message: ChatMessage }): Awaitable;
  /**
   * Runs before a tool call is checked against the policy, whether the model made the call or code that it runs. Return
   * `{ input }` to change the input (it is validated again), `{ deny: reason }` to reject the call, or nothing to leave
   * it unchanged. If the hook throws or times out, the call is rejected.
   */
  beforeTool?(
    context: MiddlewareContext<Config>,
    call: MessageToolCall,
  ): ToolCallDecision | void | Promise<ToolCallDecision | void>;
  /** Runs when a call is in the log and starts to execute. */
  onToolStart?(context: MiddlewareContext<Config>, call: MessageToolCall): Awaitable;
  onToolResult?(context: MiddlewareContext<Config>, call: MessageToolCall, result: unknown): Awaitable;
  onToolError?(context: MiddlewareContext<Config>, call: MessageToolCall, error: Error): Awaitable;
  /** Runs when a turn continues after a crash (`recovered`), or because all deferred results are in (`resolved`). */
  onResume?(context: MiddlewareContext<Config>, reason: string, payload: unknown): Awaitable;
  /** Runs when the result of a deferred call arrives. */
  onChildReport?(context: MiddlewareContext<Config>, child: ChildReport): Awaitable;
}

/**
 * Defines a middleware. Infers the type of `context.config` from the schema.
 *
 * ```ts
 * const clock = defineMiddleware({
 *   name: "clock",
 *   tags: ["default"],
 *   beforeModel: (_context, plan) => plan.addReminder(`It is ${new Date().toISOString()}.`),
 * });
 * ```
 */
export function defineMiddleware<Config extends object = object, ConfigInput extends object = Config>(
  middleware: Middleware<Config, ConfigInput>,
): Middleware<Config, ConfigInput> {
  if (!/^[A-Za-z][\w.-]{0,63}$/.test(middleware.name)) {
    throw new Error(
      `Invalid middleware name “${middleware.name}”: start with a letter and use letters, digits, and . _ - only.`,
    );
  }
  return middleware;
}
