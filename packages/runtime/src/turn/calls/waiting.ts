/** Reports that a call waits for a sandbox, and when it gets one. */
export function createWaitReporter(report: (text: string) => void): { onPlace(before: number): void; onBegin(): void } {
  let hasWaited = false;
  return {
    onPlace(before) {
      hasWaited = true;
      report(
        before === 0
          ? "Waiting for a sandbox.\n"
          : `Waiting for a sandbox: ${before} ${before === 1 ? "run" : "runs"} ahead.\n`,
      );
    },
    onBegin() {
      if (hasWaited) report("Got a sandbox, running.\n");
    },
  };
}
