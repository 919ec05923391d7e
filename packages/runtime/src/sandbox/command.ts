import { type SearchMatch, type SearchRequest as WorkspaceSearchRequest, ToolError } from "@thinkery/sdk";
import type { z } from "zod";
import type { PolicyRule } from "../policy/evaluate-policy.ts";
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

/** Commands and searches as main orders them. */

export interface ShellCommandRequest {
  command: string;
  files: ViewSource;
  state: ShellState;
  limits: Omit<ShellLimits, "timeoutMs">;
  rules: readonly PolicyRule[];
  /** The network, by the JSON of the capability `fetch`; nothing where the command may not reach it. */
  fetch?(input: string): Promise<string>;
}

export interface ShellCommandResult {
  exitCode: number;
  stdout: string;
  stderr: string;
  /** The version of the files that it saw. */
  version: number;
  /** What it did to them. */
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

/** How a new shell begins. */
export const initialShellState: ShellState = { cwd: "/work", env: {}, folders: [], scratch: [] };

export const shellLimits: Omit<ShellLimits, "timeoutMs"> = {
  outputBytes: 1024 * 1024,
  loops: 100_000,
  commands: 10_000,
  depth: 100,
};

/** What the sandbox holds of main, and which version of the files it reads through it. */
export interface CommandBridge {
  host: ShellHost;
  reading: { version: number };
}

export async function runShellCommand(
  service: SandboxService,
  { host, reading }: CommandBridge,
  order: ShellCommandRequest,
  agent: string,
  timeoutMs: number,
): Promise<ShellCommandResult> {
  const { command, files, state, limits, rules, fetch } = order;
  const answer = await runWithView({
    files,
    reading,
    ask: (view) =>
      receiveResult(
        service.shell(
          { agent, command, view, state, limits: { ...limits, timeoutMs }, rules, network: fetch !== undefined },
          host,
        ),
      ),
    getStaleVersion,
  });
  const { ok: _, ...outcome } = parseOutcome(shellOutcomeSchema, answer, "command");
  return { ...outcome, version: reading.version };
}

export async function runSearch(
  service: SandboxService,
  { host, reading }: CommandBridge,
  { files, ...order }: SearchRequest,
  agent: string,
): Promise<SearchResult> {
  const answer = await runWithView({
    files,
    reading,
    ask: (view) => receiveResult(service.search({ agent, view, ...order }, host)),
    getStaleVersion,
  });
  const { ok: _, ...outcome } = parseOutcome(searchOutcomeSchema, answer, "search");
  return outcome;
}

interface RpcResult {
  value: unknown;
}

/** Held by nobody beyond this: what came over RPC is kept by both sides until somebody says that it is needed no more. */
async function receiveResult(asked: Promise<unknown>): Promise<RpcResult> {
  const value = await asked;
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
  what: string,
): Extract<z.infer<Schema>, { ok: true }> {
  const outcome = schema.safeParse(value);
  if (!outcome.success) throw new ToolError("sandbox_lost", `The sandbox did not say what came of the ${what}.`);
  const result: Outcome = outcome.data;
  if (!result.ok)
    throw new ToolError(result.kind, [result.message, result.console?.trimEnd()].filter(Boolean).join("\n\n"));
  return outcome.data as Extract<z.infer<Schema>, { ok: true }>;
}
