import { z } from "zod";
import type { AgentRequest, AgentRunHost } from "./agent-run.ts";
import { maxConsoleChars, maxValueChars } from "./bounds.ts";
import type { SearchJob, ShellHost, ShellJob } from "./shell.ts";

// The protocol between main and a sandbox. Nothing that comes from a sandbox is trusted: it is validated here.

/** Code to run once. */
export interface Job {
  /** The body of an async function. */
  code: string;
  modules: Record<string, string>;
  /** JSON; available to the code as `input`. */
  input?: string;
  /** Whether it may import files of the workspace, which are requested as `files.module`. */
  files?: boolean;
}

/** An app that stays loaded. Its id identifies its code: different code is a different app. */
export interface App {
  /** `{agentId}.{codeVersion}` */
  id: string;
  modules: Record<string, string>;
  /** The module whose default export has `fetch`. */
  main: string;
}

/** What a run can call in main, only while it runs. */
export interface RunHost {
  /**
   * Calls a capability: `tools.<name>`, `echo`, `fetch`. Input and output are JSON. The sandbox itself calls
   * `files.module` with candidate paths, which returns the first existing file as `{path, text}`, or null.
   */
  call(capability: string, input: string): Promise<string>;
  /** Sends what was written to the console since the last call. */
  writeConsole(text: string): Promise<void>;
}

/** The RPC interface of a sandbox. Whatever the code does is an outcome; only a lost sandbox throws. */
export interface SandboxService {
  run(job: Job, host: RunHost): Promise<unknown>;
  serve(app: App, request: Request, host: RunHost): Promise<Response>;
  /** Lets the code of a user agent handle a request. */
  agent(request: AgentRequest, host: AgentRunHost): Promise<unknown>;
  /** Runs a command on a view of a workspace. */
  shell(job: ShellJob, host: ShellHost): Promise<unknown>;
  /** Finds lines of a view that match a pattern. */
  search(job: SearchJob, host: ShellHost): Promise<unknown>;
}

const consoleSchema = z.string().max(maxConsoleChars + 1000);

export const outcomeSchema = z.discriminatedUnion("ok", [
  z.object({ ok: z.literal(true), value: z.string().max(maxValueChars).optional(), console: consoleSchema }),
  z.object({
    ok: z.literal(false),
    kind: z.enum(["syntax", "threw", "limit"]),
    /** For the author of the code: what went wrong, and where. */
    message: z.string().max(20_000),
    console: consoleSchema,
  }),
]);

export type Outcome = z.infer<typeof outcomeSchema>;
