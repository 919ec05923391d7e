import type { GenerateOptions } from "@thinkery/sdk";
import type { MiddlewareRunner } from "../../middleware/pipeline.ts";
import type { ToolCall } from "../../model/model.ts";
import type { AgentStore } from "../../store/agent-store.ts";
import type { Blobs } from "../../store/blobs/blobs.ts";
import { executeModelCalls } from "../calls/model-calls.ts";
import { hasWaitingCalls, listReadyCalls } from "../calls/open-calls.ts";
import { RepetitionGuard } from "../calls/repetition.ts";
import { ResultEvents } from "../calls/result-events.ts";
import type { StepContext } from "../calls/step-context.ts";
import type { TurnDeps } from "../turn-deps.ts";
import type { TurnRecorder } from "./turn-recorder.ts";

interface TurnCallsOptions {
  agent: string;
  runId: string;
  store: AgentStore;
  blobs: Blobs;
  deps: TurnDeps;
  signal: AbortSignal;
  recorder: TurnRecorder;
  middleware: MiddlewareRunner;
  /** Whether the turn has requested no calls yet. */
  isNew: boolean;
  getStep(): number;
  generate(input: GenerateOptions): Promise<string>;
}

/** The tool calls of a turn, and what they wait for. */
export class TurnCalls {
  readonly #options: TurnCallsOptions;
  readonly #repetition = new RepetitionGuard();
  /** Calls of the last step without a result; undefined if they have to be read from the store. */
  pending: ToolCall[] | undefined;
  /** Whether calls were deferred whose results middleware has not been given yet. */
  hasUnreported = false;
  /** Whether there may be calls that wait: for a report, an approval, an answer or a time. */
  #mayHaveDeferred: boolean;

  constructor(options: TurnCallsOptions) {
    this.#options = options;
    this.#mayHaveDeferred = !options.isNew;
    if (options.isNew) this.pending = [];
  }

  listPending(): ToolCall[] {
    return this.pending ?? listReadyCalls(this.#options.store, this.#options.runId);
  }

  areWaiting(): boolean {
    if (!this.#mayHaveDeferred) return false;
    const { recorder, store, runId } = this.#options;
    recorder.record();
    this.#mayHaveDeferred = hasWaitingCalls(store, runId);
    return this.#mayHaveDeferred;
  }

  async execute(calls: readonly ToolCall[]): Promise<void> {
    await executeModelCalls(calls, this.createStepContext());
    this.pending = undefined;
  }

  /** Creates what the calls of the current step depend on. */
  createStepContext(): StepContext {
    const { getStep, recorder, ...options } = this.#options;
    return {
      ...options,
      step: getStep(),
      repetition: this.#repetition,
      resultEvents: new ResultEvents(),
      progress: (callId, text) => recorder.show(callId, text),
      record: (...events) => {
        if (events[0]?.type === "tool.deferred") this.#mayHaveDeferred = this.hasUnreported = true;
        if (events[0]?.type === "hitl.interrupt") this.#mayHaveDeferred = true;
        recorder.record(...events);
      },
      hold: (...events) => recorder.hold(...events),
      mayHaveWaiting: () => this.#mayHaveDeferred,
    };
  }
}
