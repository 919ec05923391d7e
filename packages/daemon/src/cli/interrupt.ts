import type { Cli } from "./cli.ts";
import { exitCodes } from "./exit.ts";

/** The first Ctrl+C asks to stop, the second leaves at once. */
export function stopOnInterrupt(cli: Cli, onStop: () => void): AbortSignal {
  const stop = new AbortController();
  cli.takeOverInterrupts();
  process.on("SIGINT", () => {
    if (stop.signal.aborted) process.exit(exitCodes.interrupted);
    stop.abort();
    onStop();
  });
  return stop.signal;
}
