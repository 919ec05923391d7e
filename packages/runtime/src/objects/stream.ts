import type { Subscriber, Frame } from "./broadcaster.ts";

/** A reader of frames that are not stored is disconnected if it lags this far behind. */
const maxLagBytes = 4 * 1024 * 1024;
/** From here on, a reader that can catch up from the log does so later. */
const lagThresholdBytes = 256 * 1024;
const keepAliveMs = 15_000;

export interface EventStream extends Subscriber {
  wantsSubagents?: boolean;
  readonly body: ReadableStream<Uint8Array>;
  send(text: string): void;
  /** Whether it has not read what it was sent. */
  isLagging(): boolean;
  end(): void;
  isEnded(): boolean;
}

const encoder = new TextEncoder();

/** Formats a server-sent event. The data is JSON, so it has no line breaks. */
export function formatSse(type: string, data: string, id?: number): string {
  return `${id === undefined ? "" : `id: ${id}\n`}event: ${type}\ndata: ${data}\n\n`;
}

/** Creates a response body of server-sent events from an agent's frames. */
export function createEventStream(
  onFrames: (frames: readonly Frame[], stream: EventStream) => void,
  onEnd: (stream: EventStream) => void,
  /** Called when the reader has read everything and wants more. */
  onReady: (stream: EventStream) => void = () => {},
): EventStream {
  let controller: ReadableByteStreamController | undefined;
  let queuedBytes = 0;
  let keepAlive: ReturnType<typeof setInterval> | undefined;

  const close = (finish: (open: ReadableByteStreamController) => void) => {
    if (!controller) return;
    clearInterval(keepAlive);
    const open = controller;
    controller = undefined;
    onEnd(stream);
    finish(open);
  };

  const body: ReadableStream<Uint8Array> = new ReadableStream({
    type: "bytes",
    start(opened) {
      controller = opened as ReadableByteStreamController;
    },
    pull() {
      queuedBytes = 0;
      onReady(stream);
    },
    cancel() {
      close(() => {});
    },
  });

  const stream: EventStream = {
    body,
    receive: (frames) => onFrames(frames, stream),
    send(text) {
      if (!controller) return;
      const bytes = encoder.encode(text);
      // A single text larger than the limit must still get through.
      if (queuedBytes > 0 && queuedBytes + bytes.length > maxLagBytes)
        return close((open) => open.error(new Error("The reader is too slow.")));
      queuedBytes += bytes.length;
      controller.enqueue(bytes);
    },
    isLagging: () => queuedBytes > lagThresholdBytes,
    end: () => close((open) => open.close()),
    isEnded: () => controller === undefined,
  };
  keepAlive = setInterval(() => stream.send(": still here\n\n"), keepAliveMs);
  return stream;
}
