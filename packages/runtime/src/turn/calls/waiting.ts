/** Tells those who watch a call that it waits for a sandbox, and when it has one. */
export function createWaitReporter(tell: (text: string) => void): { onPlace(before: number): void; onBegin(): void } {
  let hasWaited = false;
  return {
    onPlace(before) {
      hasWaited = true;
      tell(
        before === 0
          ? "Waiting for a sandbox.\n"
          : `Waiting for a sandbox: ${before} ${before === 1 ? "run goes" : "runs go"} first.\n`,
      );
    },
    onBegin() {
      if (hasWaited) tell("It has a sandbox and runs.\n");
    },
  };
}
