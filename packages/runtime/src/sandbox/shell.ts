import type { SearchRequest } from "@thinkery/sdk";
import { z } from "zod";
import type { CommandRules } from "../policy/command-check.ts";
import {
  maxConsoleChars,
  maxPathChars,
  maxChangedBytes,
  maxChanges,
  maxEnvironmentBytes,
  maxScratchBytes,
} from "./bounds.ts";

// The protocol between main and a sandbox for commands on a view of a workspace. Nothing that comes back is trusted.

/** A file's content, or only its size and whether it is binary: then the content is fetched when it is read. */
export type ViewContent = string | Uint8Array | { size: number; binary?: boolean };

/** `modifiedAt` is in milliseconds. */
export type ViewFile = [path: string, content: ViewContent, modifiedAt?: number];

/**
 * The files of one branch of a workspace at a version: all of them, or the changes since the version `base`. A sandbox
 * caches the last view that it was sent under an id.
 */
export interface View {
  id: string;
  version: number;
  base?: number;
  files: readonly ViewFile[];
  gone: readonly string[];
}

/** What persists from one command to the next, besides the files. */
export interface ShellState {
  cwd: string;
  /** Exported variables. */
  env: Record<string, string>;
  /** Empty folders, which a workspace itself cannot store. */
  folders: string[];
  /** The files below /tmp. */
  scratch: [path: string, content: string | Uint8Array][];
}

export interface ShellLimits {
  timeoutMs: number;
  /** Limit for each of stdout and stderr; longer output is cut in the middle. */
  outputBytes: number;
  loops: number;
  commands: number;
  /** Maximum depth of nested function calls. */
  depth: number;
}

export interface ShellJob {
  /** `agency~agent`: no two agents share an isolate. */
  agent: string;
  command: string;
  view: View;
  state: ShellState;
  limits: ShellLimits;
  /** The agent's policy rules for commands. */
  rules: CommandRules;
  /** Whether network commands are available. Main decides what they may reach. */
  network: boolean;
}

export interface SearchJob extends SearchRequest {
  agent: string;
  view: View;
}

/** What a command can call in main, only while it runs. */
export interface ShellHost {
  /** Returns the content of a file of the view. */
  read(path: string): Promise<string | Uint8Array | undefined>;
  /** Calls the capability `fetch`; input and output are its JSON. */
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

/** One change that a command made to the workspace. */
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

/** Returned if the sandbox does not have the view's base: it has this version instead, or none. */
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
