/** Tells those who watch a call that it waits for a sandbox, and when it has one. */
export function toldWaiting(tell: (text: string) => void): { onPlace(before: number): void; onBegin(): void } {
  let waited = false;
  return {
    onPlace(before) {
      waited = true;
      tell(before === 0 ? "Waiting for a sandbox.\n" : `Waiting for a sandbox: ${before} ${before === 1 ? "run goes" : "runs go"} first.\n`);
    },
    onBegin() {
      if (waited) tell("It has a sandbox and runs.\n");
    },
  };
}
