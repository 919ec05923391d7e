import type { z } from "zod";
import type { Agent } from "../protocol/agent.ts";
import type { MessageToolCall } from "../protocol/message.ts";
import type { Props } from "../protocol/props.ts";
import type { ChatMessage, Run } from "../protocol/turn.ts";
import type { GenerateOptions } from "./generate-options.ts";
import type { ModelPlan } from "./plan.ts";
import type { Tool } from "./tool.ts";

/** Who the agent is: what was known of it when it was made, and who last asked it something. */
export interface ThreadInfo extends Agent {
  request: Record<string, string>;
}

/**
 * What a middleware may know and do. `info`, `run` and `state` are persisted: what is inside of them is never changed
 * in place. `state` takes new values by assignment; each middleware has its own, in each agent.
 */
export interface MiddlewareContext<Config = unknown> {
  /** `agency~agent` */
  readonly agent: string;
  readonly info: Readonly<ThreadInfo>;
  readonly run: Readonly<Run>;
  /** The turn; empty outside of one. */
  readonly runId: string;
  readonly step: number;
  /** The blueprint's, as far as this middleware's own schema knows it. */
  readonly config: Config;
  readonly props: Props;
  readonly state: Record<string, unknown>;
  readonly signal: AbortSignal;
  /** The whole conversation, oldest first, as it is stored. */
  messages(): readonly ChatMessage[];
  /** Gives the agent a tool: for good in `onInit`, elsewhere for the rest of the turn, or until a crash interrupts it. */
  registerTool(tool: Tool): void;
  /** A quick question to a model, beside the conversation and counted like it. */
  generate(question: GenerateOptions): Promise<string>;
}

type Awaitable = void | Promise<void>;

/** A report on a call whose answer was deferred, by a child agent or anybody else. */
export interface ChildReport {
  callId: string;
  toolName: string;
  report: string;
  failed: boolean;
}

/** What `beforeTool` makes of a call: another input, or a refusal that its caller reads. */
export type ToolCallDecision = { input: unknown } | { deny: string };

/**
 * Code that takes part in the turns of the agents whose tags it shares. Hooks run at fixed points, in the order in
 * which the middleware was added, one after the other. One that throws, or does not come back in time, is named in
 * the log, what it had changed is undone as a whole, and the turn goes on.
 */
export interface Middleware<Config extends object = object, Written extends object = Config> {
  name: string;
  tags?: readonly string[];
  /** The keys of a blueprint's `config` that it reads: as they are written there, and as the hooks see them. */
  config?: z.ZodType<Config, Written>;
  /** Adds to the agent's state, as `A/state` answers it. */
  state?(context: MiddlewareContext<Config>): Record<string, unknown>;
  /** The agent woke, or its blueprint changed. */
  onInit?(context: MiddlewareContext<Config>): Awaitable;
  /** A step begins. */
  onTick?(context: MiddlewareContext<Config>): Awaitable;
  /** The model is about to be called; the plan is what it will be told. */
  beforeModel?(context: MiddlewareContext<Config>, plan: ModelPlan): Awaitable;
  /** The model has answered; its tool calls have not been made. */
  onModelResult?(context: MiddlewareContext<Config>, result: { message: ChatMessage }): Awaitable;
  /**
   * A call is about to be checked against the policy: one of the model's, or of code that it runs. Return
   * `{ input }` to change it (it is validated again) or `{ deny: reason }` to veto it; return nothing to leave it as it
   * is. A call whose hook throws or does not return in time is refused.
   */
  beforeTool?(
    context: MiddlewareContext<Config>,
    call: MessageToolCall,
  ): ToolCallDecision | void | Promise<ToolCallDecision | void>;
  /** The call is in the log and runs now. */
  onToolStart?(context: MiddlewareContext<Config>, call: MessageToolCall): Awaitable;
  onToolResult?(context: MiddlewareContext<Config>, call: MessageToolCall, result: unknown): Awaitable;
  onToolError?(context: MiddlewareContext<Config>, call: MessageToolCall, error: Error): Awaitable;
  /** The turn goes on: after a crash (`recovered`), or because the last report came in (`reported`). */
  onResume?(context: MiddlewareContext<Config>, reason: string, payload: unknown): Awaitable;
  onChildReport?(context: MiddlewareContext<Config>, child: ChildReport): Awaitable;
}

/** Keeps the type of the config between its schema and the hooks. */
export function defineMiddleware<Config extends object = object, Written extends object = Config>(
  middleware: Middleware<Config, Written>,
): Middleware<Config, Written> {
  if (!/^[A-Za-z][\w.-]{0,63}$/.test(middleware.name)) {
    throw new Error(
      `“${middleware.name}” cannot be a middleware's name: use letters, digits, and . _ - after the first.`,
    );
  }
  return middleware;
}
