import type { SearchRequest } from "@thinkery/sdk";
import { z } from "zod";
import type { PolicyRule } from "../policy/evaluate-policy.ts";
import {
  maxConsoleChars,
  maxPathChars,
  maxChangedBytes,
  maxChanges,
  maxEnvironmentBytes,
  maxScratchBytes,
} from "./bounds.ts";

/** What main and a sandbox say to each other about commands on a view of a workspace. Nothing that comes back is trusted. */

/** What is in a file; or only how large it is and whether it can be text, and its content is asked for when somebody reads it. */
export type ViewContent = string | Uint8Array | { size: number; binary?: boolean };

/** When it was modified is told in milliseconds. */
export type ViewFile = [path: string, content: ViewContent, modifiedAt?: number];

/**
 * The files of one branch of one workspace as of a version: all of them, or what has changed since the version `base`.
 * A sandbox remembers what it was last told under an id.
 */
export interface View {
  id: string;
  version: number;
  base?: number;
  files: readonly ViewFile[];
  gone: readonly string[];
}

/** What lasts from one command to the next, beside the files. */
export interface ShellState {
  cwd: string;
  /** Exported variables. */
  env: Record<string, string>;
  /** Folders of the workspace with nothing in them, which a workspace itself cannot have. */
  folders: string[];
  /** The files below /tmp. */
  scratch: [path: string, content: string | Uint8Array][];
}

export interface ShellLimits {
  timeoutMs: number;
  /** Of what a command writes, each of its two outputs is cut in the middle where it is longer. */
  outputBytes: number;
  loops: number;
  commands: number;
  /** How deep functions may call each other. */
  depth: number;
}

export interface ShellJob {
  /** `agency~agent`: no two agents share an isolate. */
  agent: string;
  command: string;
  view: View;
  state: ShellState;
  limits: ShellLimits;
  /** Those of the agent's rules that are about commands. */
  rules: readonly PolicyRule[];
  /** Are there commands that reach the network? What they reach is main's business. */
  network: boolean;
}

export interface SearchJob extends SearchRequest {
  agent: string;
  view: View;
}

/** What a command may ask of main while it runs, and not a moment longer. */
export interface ShellHost {
  /** What is in a file of the view. */
  read(path: string): Promise<string | Uint8Array | undefined>;
  /** Input and answer are the JSON of the capability `fetch`. */
  fetch(input: string): Promise<string>;
}

const pathSchema = z.string().min(1).max(maxPathChars);
const contentSchema = z.union([z.string(), z.custom<Uint8Array>((value) => value instanceof Uint8Array)]);
const outputSchema = z.string().max(4 * 1024 * 1024);

export const shellChangeSchema = z.union([
  z.strictObject({ write: pathSchema, content: contentSchema }),
  z.strictObject({ delete: pathSchema }),
  z.strictObject({ move: pathSchema, to: pathSchema }),
]);

/** One thing that a command did to the workspace. */
export type ShellChange = z.infer<typeof shellChangeSchema>;

const stateSchema = z.strictObject({
  cwd: pathSchema,
  env: z
    .record(z.string().max(1000), z.string())
    .refine(
      (env) =>
        Object.entries(env).reduce((sum, [name, value]) => sum + name.length + value.length, 0) <= maxEnvironmentBytes,
    ),
  folders: z.array(pathSchema).max(1000),
  scratch: z
    .array(z.tuple([pathSchema, contentSchema]))
    .max(1000)
    .refine((files) => files.reduce((sum, [, text]) => sum + text.length, 0) <= maxScratchBytes),
});

/** The sandbox does not have what the view is told as a change of; it has another version, or none. */
export const staleSchema = z.strictObject({ stale: z.number().nullable() });

export const shellOutcomeSchema = z.discriminatedUnion("ok", [
  z.strictObject({
    ok: z.literal(true),
    exitCode: z.int().min(0).max(255),
    stdout: outputSchema,
    stderr: outputSchema,
    changes: z
      .array(shellChangeSchema)
      .max(maxChanges)
      .refine(
        (changes) =>
          changes.reduce((sum, change) => sum + ("write" in change ? change.content.length : 0), 0) <= maxChangedBytes,
      ),
    state: stateSchema,
    notes: z.array(z.string().max(2000)).max(20),
  }),
  z.strictObject({
    ok: z.literal(false),
    kind: z.enum(["threw", "limit"]),
    message: z.string().max(20_000),
    console: z.string().max(maxConsoleChars + 1000),
  }),
]);

export type ShellOutcome = z.infer<typeof shellOutcomeSchema>;

export const searchOutcomeSchema = z.discriminatedUnion("ok", [
  z.strictObject({
    ok: z.literal(true),
    found: z
      .array(
        z.strictObject({
          path: pathSchema,
          line: z.int().min(1),
          text: z.string().max(600),
          near: z.boolean().optional(),
        }),
      )
      .max(10_000),
    more: z.boolean(),
  }),
  z.strictObject({ ok: z.literal(false), kind: z.enum(["syntax", "threw", "limit"]), message: z.string().max(20_000) }),
]);

export type SearchOutcome = z.infer<typeof searchOutcomeSchema>;
