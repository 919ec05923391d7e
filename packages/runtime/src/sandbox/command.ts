import { type SearchMatch, type SearchRequest as WorkspaceSearchRequest, ToolError } from "@thinkery/sdk";
import type { z } from "zod";
import type { CommandRules } from "../policy/command-check.ts";
import type { SandboxService } from "./run.ts";
import {
  searchOutcomeSchema,
  type ShellChange,
  type ShellHost,
  type ShellLimits,
  shellOutcomeSchema,
  type ShellState,
  staleSchema,
} from "./shell.ts";
import { type ViewSource, runWithView } from "./views.ts";

/** A shell command as main requests it. */
export interface ShellCommandRequest {
  command: string;
  files: ViewSource;
  state: ShellState;
  limits: Omit<ShellLimits, "timeoutMs">;
  rules: CommandRules;
  /** Calls the capability `fetch` with JSON; omitted if the command has no network access. */
  fetch?(input: string): Promise<string>;
}

export interface ShellCommandResult {
  exitCode: number;
  stdout: string;
  stderr: string;
  /** The workspace version it ran on. */
  version: number;
  /** What it changed. Nothing is committed yet. */
  changes: ShellChange[];
  state: ShellState;
  notes: string[];
}

export interface SearchRequest extends WorkspaceSearchRequest {
  files: ViewSource;
}

export interface SearchResult {
  found: SearchMatch[];
  more: boolean;
}

/** The state of a new shell. */
export const initialShellState: ShellState = { cwd: "/work", env: {}, folders: [], scratch: [] };

export const shellLimits: Omit<ShellLimits, "timeoutMs"> = {
  outputBytes: 1024 * 1024,
  loops: 100_000,
  commands: 10_000,
  depth: 100,
};

/** What the sandbox gets of main, and the workspace version that it reads. */
export interface CommandBridge {
  host: ShellHost;
  reading: { version: number };
}

export async function runShellCommand(
  service: SandboxService,
  { host, reading }: CommandBridge,
  request: ShellCommandRequest,
  agent: string,
  timeoutMs: number,
): Promise<ShellCommandResult> {
  const { command, files, state, limits, rules, fetch } = request;
  const result = await runWithView({
    files,
    reading,
    send: (view) =>
      receiveResult(
        service.shell(
          { agent, command, view, state, limits: { ...limits, timeoutMs }, rules, network: fetch !== undefined },
          host,
        ),
      ),
    getStaleVersion,
  });
  const { ok: _, ...outcome } = parseOutcome(shellOutcomeSchema, result, "command");
  return { ...outcome, version: reading.version };
}

export async function runSearch(
  service: SandboxService,
  { host, reading }: CommandBridge,
  { files, ...request }: SearchRequest,
  agent: string,
): Promise<SearchResult> {
  const result = await runWithView({
    files,
    reading,
    send: (view) => receiveResult(service.search({ agent, view, ...request }, host)),
    getStaleVersion,
  });
  const { ok: _, ...outcome } = parseOutcome(searchOutcomeSchema, result, "search");
  return outcome;
}

interface RpcResult {
  value: unknown;
}

/** Disposes the result at once: both sides of an RPC keep a result until it is disposed. */
async function receiveResult(pending: Promise<unknown>): Promise<RpcResult> {
  const value = await pending;
  (value as Partial<Disposable> | undefined)?.[Symbol.dispose]?.();
  return { value };
}

function getStaleVersion({ value }: RpcResult): number | null | undefined {
  const stale = staleSchema.safeParse(value);
  return stale.success ? stale.data.stale : undefined;
}

type Outcome = { ok: true } | { ok: false; kind: "syntax" | "threw" | "limit"; message: string; console?: string };

function parseOutcome<Schema extends z.ZodType<Outcome>>(
  schema: Schema,
  { value }: RpcResult,
  kind: string,
): Extract<z.infer<Schema>, { ok: true }> {
  const outcome = schema.safeParse(value);
  if (!outcome.success) throw new ToolError("sandbox_lost", `The sandbox returned no valid result for the ${kind}.`);
  const result: Outcome = outcome.data;
  if (!result.ok)
    throw new ToolError(result.kind, [result.message, result.console?.trimEnd()].filter(Boolean).join("\n\n"));
  return outcome.data as Extract<z.infer<Schema>, { ok: true }>;
}
