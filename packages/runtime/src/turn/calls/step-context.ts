import type { GenerateOptions, NewEvent, Tool } from "@thinkery/sdk";
import type { MiddlewareRunner } from "../../middleware/pipeline.ts";
import type { AgentStore } from "../../store/agent-store.ts";
import type { Blobs } from "../../store/blobs/blobs.ts";
import type { TurnDeps } from "../turn-deps.ts";
import type { RepetitionGuard } from "./repetition.ts";
import type { ResultEvents } from "./result-events.ts";

/** What the calls of one step depend on. */
export interface StepContext {
  deps: TurnDeps;
  /** The agent's object name, `agency~agent`. */
  agent: string;
  runId: string;
  step: number;
  store: AgentStore;
  blobs: Blobs;
  signal: AbortSignal;
  middleware: MiddlewareRunner;
  repetition: RepetitionGuard;
  resultEvents: ResultEvents;
  generate(input: GenerateOptions): Promise<string>;
  /** Shows clients what a running call does; nothing is stored. */
  progress(callId: string, text: string): void;
  /** Writes the held events, then these. */
  record(...events: NewEvent[]): void;
  /** Holds events to be written with the next ones. Only for use where nothing else can happen in between. */
  hold(...events: NewEvent[]): void;
  /** Whether there may be calls of the turn that wait, or got what they waited for. */
  mayHaveWaiting(): boolean;
}

/** Returns whether a call has no effect outside this object: it is one transaction and needs no timeout. */
export function runsLocally({ local }: Tool, { deps }: StepContext): boolean {
  return local === true && deps.workspace.isLocal;
}
