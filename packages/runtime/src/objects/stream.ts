import type { Subscriber, Frame } from "./broadcaster.ts";

/** A reader of what is told once and stored nowhere is cut off when it lags this far behind. */
const maxLagBytes = 4 * 1024 * 1024;
/** One that can be told later is told later from here on. */
const lagThresholdBytes = 256 * 1024;
const keepAliveMs = 15_000;

export interface EventStream extends Subscriber {
  readonly body: ReadableStream<Uint8Array>;
  send(text: string): void;
  /** It has not read what it was sent. */
  isLagging(): boolean;
  end(): void;
}

const encoder = new TextEncoder();

/** One server-sent event. Data has no line breaks, because it is JSON. */
export function formatSse(type: string, data: string, id?: number): string {
  return `${id === undefined ? "" : `id: ${id}\n`}event: ${type}\ndata: ${data}\n\n`;
}

/** A response body of server-sent events, fed by what an agent tells. */
export function createEventStream(
  hear: (news: readonly Frame[], stream: EventStream) => void,
  onEnd: (stream: EventStream) => void,
  /** It has read everything, and would read more. */
  onReady: (stream: EventStream) => void = () => {},
): EventStream {
  let controller: ReadableByteStreamController | undefined;
  let queuedBytes = 0;
  let keepAlive: ReturnType<typeof setInterval> | undefined;

  const close = (how: (open: ReadableByteStreamController) => void) => {
    if (!controller) return;
    clearInterval(keepAlive);
    const open = controller;
    controller = undefined;
    onEnd(stream);
    how(open);
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
    receive: (news) => hear(news, stream),
    send(text) {
      if (!controller) return;
      const bytes = encoder.encode(text);
      // One thing that is larger than all that may wait has to get through nevertheless.
      if (queuedBytes > 0 && queuedBytes + bytes.length > maxLagBytes)
        return close((open) => open.error(new Error("The reader is too slow.")));
      queuedBytes += bytes.length;
      controller.enqueue(bytes);
    },
    isLagging: () => queuedBytes > lagThresholdBytes,
    end: () => close((open) => open.close()),
  };
  keepAlive = setInterval(() => stream.send(": still here\n\n"), keepAliveMs);
  return stream;
}
