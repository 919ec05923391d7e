import type { Cli } from "../cli.ts";
import { stopOnInterrupt } from "../interrupt.ts";

/** Ctrl+C while a workflow is started and followed. What it does changes on the way. */
export interface RunInterrupts {
  /** Aborted by the first Ctrl+C; the second one exits at once. */
  signal: AbortSignal;
  /** Sets what the first Ctrl+C does in addition. Called at once if there was one already. */
  setHandler(handler: () => void): void;
}

export function handleRunInterrupts(cli: Cli): RunInterrupts {
  let handler = () => {};
  const signal = stopOnInterrupt(cli, () => handler());
  return {
    signal,
    setHandler(next) {
      handler = next;
      if (signal.aborted) next();
    },
  };
}
