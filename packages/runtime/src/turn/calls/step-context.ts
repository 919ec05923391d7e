import type { GenerateOptions, NewEvent, Tool } from "@thinkery/sdk";
import type { MiddlewareRunner } from "../../middleware/pipeline.ts";
import type { AgentStore } from "../../store/agent-store.ts";
import type { Blobs } from "../../store/blobs/blobs.ts";
import type { TurnDeps } from "../turn-deps.ts";
import type { RepetitionGuard } from "./repetition.ts";

/** What the calls of one step have to work with. */
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
  consult(question: GenerateOptions): Promise<string>;
  /** Shows watchers what a running call does; nothing is stored. */
  progress(callId: string, text: string): void;
  /** Writes events together with those that are held; without arguments, only the latter. */
  record(...events: NewEvent[]): void;
  /** Holds events to be written with the next ones; only where nothing else can happen in between. */
  hold(...events: NewEvent[]): void;
}

/** Whether a call has no effect outside of this object: all of it is one transaction, and it needs no time limit. */
export function runsLocally({ local }: Tool, { deps }: StepContext): boolean {
  return local === true && deps.workspace.isLocal;
}
