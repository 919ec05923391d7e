import { z } from "zod";
import type { NewEvent, ToolErrorCode } from "../protocol/event.ts";
import { toolNameRule } from "../protocol/names.ts";
import type { Props } from "../protocol/props.ts";
import type { CodeRunner } from "./code.ts";
import type { Files, Shell } from "./files.ts";
import type { GenerateOptions } from "./generate-options.ts";
import type { Linux } from "./linux.ts";

/** Facts that a tool may add to its agent's log. */
export type RecordableEvent = Extract<NewEvent, { type: "todos.updated" | "title.set" | "app.set" }>;

/** What a tool may know and do. Never an object, never a binding. */
export interface ToolContext {
  callId: string;
  runId: string;
  /** `agency~agent` */
  agent: string;
  /** What the request and the agent were given by their makers. */
  props: Props;
  /** Fires when the turn is canceled or the tool has had its time. */
  signal: AbortSignal;
  /** Adds facts to the agent's log; what is derived from them is there at once. */
  record(...facts: RecordableEvent[]): void;
  /** Stores a big value and answers its hash. It can be read through the agent once a fact refers to it. */
  putBlob(content: Uint8Array): Promise<string>;
  /** A quick question to a model, beside the conversation and counted like it. */
  generate(question: GenerateOptions): Promise<string>;
  /** What a long call tells those who watch, while it goes on. Nobody keeps it. */
  reportProgress(text: string): void;
  files: Files;
  shell: Shell;
  sandbox: CodeRunner;
  linux: Linux;
}

/** A failure of a known kind. Whatever else a tool throws is `threw`. */
export class ToolError extends Error {
  override readonly name = "ToolFailure";
  readonly code: ToolErrorCode;

  constructor(errorCode: ToolErrorCode, message: string) {
    super(message);
    this.code = errorCode;
  }
}

export interface Tool {
  name: string;
  /** Other names models know it by. */
  aliases?: readonly string[];
  description: string;
  inputSchema: z.ZodType;
  /** The input's JSON schema, where that is what it was defined with. */
  parameters?: Record<string, unknown>;
  /** What it does, in a word, for the action log. */
  action: string;
  /** May a call be made again when a crash left its outcome unknown? */
  idempotent: boolean;
  /** May it run beside other calls of the same step? Others run alone, in the model's order. */
  parallel: boolean;
  /** Is its whole effect facts in the agent's log? Such a tool answers at once. */
  local?: boolean;
  /** Longer than this and the call has failed; the host's own limit where it is not given. */
  timeoutSeconds?: number;
  /** May only the model call it, and not the code that it writes? */
  modelOnly?: boolean;
  /**
   * What the policy does with a call that no rule speaks of; `allow` where it is not given. With `deny`, only what a
   * rule allows can be done.
   */
  defaultPolicy?: "deny" | "allow";
  /**
   * Does a rule's `match` mean this input? Nothing is answered where it cannot be read. A tool without this has
   * `match` looked for in the input's JSON.
   */
  matchesRule?(match: string, input: unknown, action: "deny" | "ask" | "allow"): boolean | undefined;
  /** The `match` of a rule that would allow this input, for whoever is told that none does. */
  ruleFor?(input: unknown): string;
  /** What the logs keep of an input that may be long or hold secrets, valid or not; all of it where this is not given. */
  redactInput?(input: unknown): unknown;
  /** What the action log says of the output; the output itself may hold anything. */
  summarize?(output: unknown): string;
  /** Returns the result; nothing or `null` is no output, and `defer()` says that the result comes later. */
  execute(input: unknown, context: ToolContext): unknown;
}

/** A tool as it is defined; what is left out is assumed to be the careful thing. */
export interface ToolOptions<Input> extends Omit<
  Tool,
  "inputSchema" | "parameters" | "action" | "idempotent" | "parallel" | "execute"
> {
  /** A zod schema, or a JSON schema. */
  inputSchema: z.ZodType<Input> | Record<string, unknown>;
  action?: string;
  idempotent?: boolean;
  parallel?: boolean;
}

/**
 * A tool: what the model is told of it, and what it does.
 *
 * ```ts
 * const lookup = defineTool(
 *   { name: "lookupOrder", description: "Find an order.", inputSchema: z.object({ id: z.string() }), idempotent: true },
 *   async ({ id }) => orders.get(id) ?? "There is no such order.",
 * );
 * ```
 *
 * A string or an object is its result, an exception a result that says what went wrong. Nothing or `null` is no output,
 * and `defer()` says that the result comes later.
 */
export function defineTool<Input>(
  definition: ToolOptions<Input>,
  execute: (input: Input, context: ToolContext) => unknown,
): Tool {
  const { name, aliases = [], description, inputSchema } = definition;
  for (const word of [name, ...aliases]) {
    if (!toolNameRule.pattern.test(word)) throw new Error(`“${word}” cannot be a tool's name: ${toolNameRule.form}.`);
  }
  if (!description.trim())
    throw new Error(`The tool “${name}” has no description, and a model could not know what it is for.`);
  const isZod = inputSchema instanceof z.ZodType;
  const schema = isZod ? { inputSchema } : { inputSchema: z.fromJSONSchema(inputSchema), parameters: inputSchema };
  return {
    action: name,
    idempotent: false,
    parallel: false,
    ...definition,
    ...schema,
    execute: execute as Tool["execute"],
  };
}

/** A picture as a tool's output: kept in the blob store, shown to models that see. */
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
