import { z } from "zod";
import { maxConsoleChars, maxValueChars } from "./bounds.ts";
import type { SearchJob, ShellHost, ShellJob } from "./shell.ts";

/** What main and a sandbox say to each other. Nothing that comes from a sandbox is trusted: it is checked here. */

export interface Job {
  /** The body of an async function. */
  code: string;
  modules: Record<string, string>;
  /** JSON; what the code finds as `input`. */
  input?: string;
  /** May it import files of the workspace? They are asked for as `files.module`. */
  files?: boolean;
}

/** An app that stays: its id names its code, so other code is another app. */
export interface App {
  /** `{agentId}.{codeVersion}` */
  id: string;
  modules: Record<string, string>;
  /** The module whose default export has `fetch`. */
  main: string;
}

/** What a run may ask of main while it goes on, and not a moment longer. */
export interface RunHost {
  /**
   * Calls a capability: `tools.<name>`, `echo`, `fetch`. Input and answer are JSON. The sandbox itself calls
   * `files.module` with paths, and is answered the first of these files that there is, as `{path, text}`, or null.
   */
  call(capability: string, input: string): Promise<string>;
  /** What was written to the console since the last time. */
  heard(text: string): Promise<void>;
}

/** The outside of a sandbox. Whatever the code does is an outcome; only a sandbox that is lost throws. */
export interface SandboxService {
  run(job: Job, host: RunHost): Promise<unknown>;
  serve(app: App, request: Request, host: RunHost): Promise<Response>;
  /** A command on a view of a workspace. */
  shell(job: ShellJob, host: ShellHost): Promise<unknown>;
  /** Lines of a view that a pattern is found in. */
  search(job: SearchJob, host: ShellHost): Promise<unknown>;
}

export { maxConsoleChars as longestConsole };

const consoleSchema = z.string().max(maxConsoleChars + 1000);

export const outcomeSchema = z.discriminatedUnion("ok", [
  z.object({ ok: z.literal(true), value: z.string().max(maxValueChars).optional(), console: consoleSchema }),
  z.object({
    ok: z.literal(false),
    kind: z.enum(["syntax", "threw", "limit"]),
    /** For whoever wrote the code: what went wrong, and where in their code. */
    message: z.string().max(20_000),
    console: consoleSchema,
  }),
]);

export type Outcome = z.infer<typeof outcomeSchema>;
