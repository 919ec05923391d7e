/** How often to acknowledge received data. The host disconnects clients that have megabytes outstanding. */
const ackBytes = 256 * 1024;

/** Calls `send` whenever so much was received that it has to be acknowledged. */
export function createAcknowledger(send: () => void) {
  let unackedBytes = 0;
  return {
    receive(data: string): void {
      unackedBytes += data.length;
      if (unackedBytes < ackBytes) return;
      unackedBytes = 0;
      send();
    },
    /** Call it when a new connection opens. */
    reset(): void {
      unackedBytes = 0;
    },
  };
}
