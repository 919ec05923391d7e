import { type Found, type SearchOrder, ToolFailure } from "@thinkery/sdk";
import type { z } from "zod";
import type { PolicyRule } from "../policy/evaluate-policy.ts";
import type { SandboxService } from "./run.ts";
import { searchOutcomeSchema, type ShellChange, type ShellHost, type ShellLimits, shellOutcomeSchema, type ShellState, staleSchema } from "./shell.ts";
import { type ViewSource, withView } from "./views.ts";

/** Commands and searches as main orders them. */

export interface ShellOrder {
  command: string;
  files: ViewSource;
  state: ShellState;
  limits: Omit<ShellLimits, "timeoutMs">;
  rules: readonly PolicyRule[];
  /** The network, by the JSON of the capability `fetch`; nothing where the command may not reach it. */
  fetch?(input: string): Promise<string>;
}

export interface ShellAnswer {
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

export interface SearchFiles extends SearchOrder {
  files: ViewSource;
}

export interface SearchAnswer {
  found: Found[];
  more: boolean;
}

/** How a new shell begins. */
export const firstState: ShellState = { cwd: "/work", env: {}, folders: [], scratch: [] };

export const shellLimits: Omit<ShellLimits, "timeoutMs"> = { outputBytes: 1024 * 1024, loops: 100_000, commands: 10_000, depth: 100 };

/** What the sandbox holds of main, and which version of the files it reads through it. */
export interface CommandDoor {
  host: ShellHost;
  reading: { version: number };
}

export async function shellIn(service: SandboxService, { host, reading }: CommandDoor, order: ShellOrder, agent: string, timeoutMs: number): Promise<ShellAnswer> {
  const { command, files, state, limits, rules, fetch } = order;
  const answer = await withView({
    files,
    reading,
    ask: (view) => received(service.shell({ agent, command, view, state, limits: { ...limits, timeoutMs }, rules, network: fetch !== undefined }, host)),
    staleOf,
  });
  const { ok: _, ...outcome } = checked(shellOutcomeSchema, answer, "command");
  return { ...outcome, version: reading.version };
}

export async function searchIn(service: SandboxService, { host, reading }: CommandDoor, { files, ...order }: SearchFiles, agent: string): Promise<SearchAnswer> {
  const answer = await withView({ files, reading, ask: (view) => received(service.search({ agent, view, ...order }, host)), staleOf });
  const { ok: _, ...outcome } = checked(searchOutcomeSchema, answer, "search");
  return outcome;
}

interface Received {
  value: unknown;
}

/** Held by nobody beyond this: what came over RPC is kept by both sides until somebody says that it is needed no more. */
async function received(asked: Promise<unknown>): Promise<Received> {
  const value = await asked;
  (value as Partial<Disposable> | undefined)?.[Symbol.dispose]?.();
  return { value };
}

function staleOf({ value }: Received): number | null | undefined {
  const stale = staleSchema.safeParse(value);
  return stale.success ? stale.data.stale : undefined;
}

type Outcome = { ok: true } | { ok: false; kind: "syntax" | "threw" | "limit"; message: string; console?: string };

function checked<Schema extends z.ZodType<Outcome>>(schema: Schema, { value }: Received, what: string): Extract<z.infer<Schema>, { ok: true }> {
  const outcome = schema.safeParse(value);
  if (!outcome.success) throw new ToolFailure("sandbox_lost", `The sandbox did not say what came of the ${what}.`);
  const came: Outcome = outcome.data;
  if (!came.ok) throw new ToolFailure(came.kind, [came.message, came.console?.trimEnd()].filter(Boolean).join("\n\n"));
  return outcome.data as Extract<z.infer<Schema>, { ok: true }>;
}
