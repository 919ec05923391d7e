import type { Readable } from "node:stream";

/** Maximum bytes read per interval; beyond that, the writer is blocked. */
const maxBytesPerInterval = 2 * 1024 * 1024;
const intervalMs = 100;

/** Reads a stream at a limited rate, so that a fast writer does not starve the daemon's other work. */
export function throttleReads(stream: Readable, onChunk: (chunk: Buffer) => void): { disable(): void } {
  let bytesRead = 0;
  let startedAt = performance.now();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isDisabled = false;

  const resume = () => {
    clearTimeout(timer);
    timer = undefined;
    bytesRead = 0;
    startedAt = performance.now();
    stream.resume();
  };

  stream.on("error", () => {});
  stream.on("data", (chunk: Buffer) => {
    onChunk(chunk);
    bytesRead += chunk.length;
    if (isDisabled || timer || bytesRead < maxBytesPerInterval) return;
    const remainingMs = intervalMs - (performance.now() - startedAt);
    if (remainingMs <= 0) return resume();
    stream.pause();
    timer = setTimeout(resume, remainingMs);
  });

  return {
    /** Reads the rest at full speed, once the writer is gone. */
    disable() {
      isDisabled = true;
      resume();
    },
  };
}
