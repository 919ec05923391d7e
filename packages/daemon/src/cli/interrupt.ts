import type { Cli } from "./cli.ts";
import { exitCodes } from "./exit.ts";

/** The first Ctrl+C aborts the returned signal; the second exits immediately. */
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
