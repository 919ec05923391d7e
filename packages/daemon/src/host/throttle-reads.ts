import type { Readable } from "node:stream";

/** So much is read at a time; then the writer waits. */
const maxChunkBytes = 2 * 1024 * 1024;
const pauseMs = 100;

/** Reads a stream no faster than it can be dealt with beside everything else that a daemon does. */
export function throttleReads(stream: Readable, onChunk: (chunk: Buffer) => void): { rush(): void } {
  let read = 0;
  let began = performance.now();
  let waiting: ReturnType<typeof setTimeout> | undefined;
  let isRushed = false;

  const resume = () => {
    clearTimeout(waiting);
    waiting = undefined;
    read = 0;
    began = performance.now();
    stream.resume();
  };

  stream.on("error", () => {});
  stream.on("data", (chunk: Buffer) => {
    onChunk(chunk);
    read += chunk.length;
    if (isRushed || waiting || read < maxChunkBytes) return;
    const rest = pauseMs - (performance.now() - began);
    // It took its time by itself.
    if (rest <= 0) return resume();
    stream.pause();
    waiting = setTimeout(resume, rest);
  });

  return {
    /** From now on there is no hurry to be feared: whoever wrote is gone. */
    rush() {
      isRushed = true;
      resume();
    },
  };
}
