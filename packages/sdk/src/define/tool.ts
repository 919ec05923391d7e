import { z } from "zod";
import type { CallPreview } from "../protocol/approval.ts";
import type { NewEvent, ToolErrorCode } from "../protocol/event.ts";
import { toolNameRule } from "../protocol/names.ts";
import type { Props } from "../protocol/props.ts";
import type { CodeRunner } from "./code.ts";
import type { Deferred, WaitAnswer } from "./defer.ts";
import type { Files, Shell } from "./files.ts";
import type { GenerateOptions } from "./generate-options.ts";
import type { Linux } from "./linux.ts";
import type { Schedules } from "./schedules.ts";
import type { Subagents } from "./subagents.ts";
import type { Tasks } from "./tasks.ts";
import type { Team } from "./team.ts";

type Awaitable<T> = T | Promise<T>;

/** Events that a tool may append to its agent's log. */
export type RecordableEvent = Extract<NewEvent, { type: "todos.updated" | "title.set" | "app.set" }>;

/** What a tool can read and do while it executes. It gets no access to Durable Objects or bindings. */
export interface ToolContext {
  callId: string;
  runId: string;
  /** `agency~agent` */
  agent: string;
  /** The props of the agent and of the request. */
  props: Props;
  /** Aborts when the turn is canceled or the tool times out. */
  signal: AbortSignal;
  /** Appends events to the agent's log. Everything derived from them is up to date when this returns. */
  record(...events: RecordableEvent[]): void;
  /** Stores a large value and returns its hash. It can be read through the agent once an event refers to it. */
  putBlob(content: Uint8Array): Promise<string>;
  /** Calls a model outside the conversation. Usage and budgets count the call. */
  generate(options: GenerateOptions): Promise<string>;
  /** Shows progress to everyone who is watching. It is not stored. */
  reportProgress(text: string): void;
  files: Files;
  shell: Shell;
  sandbox: CodeRunner;
  linux: Linux;
  subagents: Subagents;
  tasks: Tasks;
  schedules: Schedules;
  team: Team;
  /** Whether the agent has a webhook with this name, that a call could wait for. */
  hasWebhook(name: string): boolean;
}

/** A failure with a specific error code. Any other error that a tool throws gets the code `threw`. */
export class ToolError extends Error {
  override readonly name = "ToolError";
  readonly code: ToolErrorCode;

  constructor(code: ToolErrorCode, message: string) {
    super(message);
    this.code = code;
  }
}

/** A tool, as `defineTool` returns it. */
export interface Tool<Input = unknown, Output = unknown> {
  name: string;
  /** Other names that models may use for it. */
  aliases?: readonly string[];
  /** Tells the model what the tool does and when to use it. */
  description: string;
  inputSchema: z.ZodType<Input>;
  /** The JSON schema of the input, if the tool was defined with one. */
  parameters?: Record<string, unknown>;
  /** A word for what the tool does, shown in the action log. */
  action: string;
  /** Whether a call may be repeated if a crash left its outcome unknown. */
  idempotent: boolean;
  /** Whether it may run concurrently with other calls of the same step. Other tools run alone, in the model's order. */
  parallel: boolean;
  /** Whether its only effect is events in the agent's log. Such a tool returns at once. */
  local?: boolean;
  /** A group of tools that the model is only offered once the agent needs them. It may call them at any time. */
  onDemand?: string;
  /** Whether it is called again and again to look for news, so that a model that does so is not stuck. */
  polls?: boolean;
  /** The call fails after this time. Defaults to the host's limit for tools. */
  timeoutSeconds?: number;
  /** Whether only the model may call it, and not the code that the model writes. */
  modelOnly?: boolean;
  /**
   * What the policy decides if no rule matches a call. With `deny`, only what a rule allows can be done.
   *
   * @default "allow"
   */
  defaultPolicy?: "deny" | "allow";
  /**
   * Returns whether a rule's `match` applies to this input, or undefined if `match` is malformed. Without this
   * function, `match` is searched for in the JSON of the input. `ruleTool` is the rule's `tool`, which may be a pattern.
   */
  matchesRule?(match: string, input: unknown, action: "deny" | "ask" | "allow", ruleTool: string): boolean | undefined;
  /** Returns the `match` of a rule that would allow this input; suggested to the user if no rule does. */
  ruleFor?(input: unknown): string;
  /**
   * Returns what is logged in place of an input that may be long or contain secrets. Also called with invalid inputs.
   * Without this function, the whole input is logged.
   */
  redactInput?(input: unknown): unknown;
  /**
   * Whether a call needs a person's approval, in addition to those that the policy asks about. Called with a valid
   * input.
   */
  needsApproval?(input: Input): boolean;
  /** Returns what a person is shown who decides about a call. Without it, the input. */
  preview?(input: Input, files: Pick<Files, "read" | "readBytes">): Awaitable<CallPreview>;
  /** Returns what the action log shows of the output, which itself may contain anything. */
  summarize?(output: Output): string;
  /** Returns the result. `undefined` and `null` mean no output; `defer()` means that the result comes later. */
  execute(input: Input, context: ToolContext): Awaitable<Output | Deferred>;
  /** Returns the result of a call that waited, when its turn goes on. Without it, the answer is the result. */
  resume?(answer: WaitAnswer, context: ToolContext): Awaitable<Output>;
}

/** The definition of a tool. Omitted options get the safest default. */
export interface ToolOptions<Input, Output = unknown> extends Omit<
  Tool<Input, Output>,
  "inputSchema" | "parameters" | "action" | "idempotent" | "parallel" | "needsApproval" | "execute"
> {
  /** A Zod schema or a JSON schema. */
  inputSchema: z.ZodType<Input> | Record<string, unknown>;
  /** Defaults to the name of the tool. */
  action?: string;
  /** @default false */
  idempotent?: boolean;
  /** @default false */
  parallel?: boolean;
  /** Whether calls need a person's approval: all of them, or those with certain inputs. */
  needsApproval?: boolean | ((input: Input) => boolean);
}

/**
 * Defines a tool that models can call.
 *
 * ```ts
 * const lookup = defineTool(
 *   {
 *     name: "lookupOrder",
 *     description: "Find an order by its id.",
 *     inputSchema: z.object({ id: z.string() }),
 *     idempotent: true,
 *   },
 *   async ({ id }) => orders.get(id) ?? `Order ${id} not found.`,
 * );
 * ```
 *
 * The returned string or object is sent to the model. If `execute` throws, the model gets the error message. Return
 * nothing or `null` for no output, or `defer()` if the result comes later.
 */
export function defineTool<Input, Output = unknown>(
  definition: ToolOptions<Input, Output>,
  execute: Tool<Input, Output>["execute"],
): Tool<Input, Output> {
  const { needsApproval, ...rest } = definition;
  const { name, aliases = [], description, inputSchema } = rest;
  for (const one of [name, ...aliases]) {
    if (!toolNameRule.pattern.test(one)) throw new Error(`Invalid tool name “${one}”: ${toolNameRule.form}.`);
  }
  if (!description.trim())
    throw new Error(`The tool “${name}” has no description. Models need one to know what the tool is for.`);
  const isZod = inputSchema instanceof z.ZodType;
  const schema = isZod
    ? { inputSchema }
    : { inputSchema: z.fromJSONSchema(inputSchema) as z.ZodType<Input>, parameters: inputSchema };
  return {
    action: name,
    idempotent: false,
    parallel: false,
    ...rest,
    ...schema,
    ...(needsApproval === undefined
      ? {}
      : { needsApproval: typeof needsApproval === "boolean" ? () => needsApproval : needsApproval }),
    execute,
  };
}

/** An image as the output of a tool. It is stored as a blob and shown to models that support images. */
export class ToolImage {
  readonly mediaType: string;
  readonly data: Uint8Array;
  readonly description: string;

  constructor(mediaType: string, data: Uint8Array, description: string) {
    this.mediaType = mediaType;
    this.data = data;
    this.description = description;
  }
}
