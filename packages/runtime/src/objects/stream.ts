import type { Ear, News } from "./audience.ts";

/** A reader of what is told once and stored nowhere is cut off when it lags this far behind. */
const maxLagBytes = 4 * 1024 * 1024;
/** One that can be told later is told later from here on. */
const usualLag = 256 * 1024;
const keepAliveMs = 15_000;

export interface EventStream extends Ear {
  readonly body: ReadableStream<Uint8Array>;
  send(text: string): void;
  /** It has not read what it was sent. */
  lags(): boolean;
  end(): void;
}

const encoder = new TextEncoder();

/** One server-sent event. Data has no line breaks, because it is JSON. */
export function sse(type: string, data: string, id?: number): string {
  return `${id === undefined ? "" : `id: ${id}\n`}event: ${type}\ndata: ${data}\n\n`;
}

/** A response body of server-sent events, fed by what an agent tells. */
export function eventStream(
  hear: (news: readonly News[], stream: EventStream) => void,
  onEnd: (stream: EventStream) => void,
  /** It has read everything, and would read more. */
  onReady: (stream: EventStream) => void = () => {},
): EventStream {
  let controller: ReadableByteStreamController | undefined;
  let queued = 0;
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
      queued = 0;
      onReady(stream);
    },
    cancel() {
      close(() => {});
    },
  });

  const stream: EventStream = {
    body,
    hear: (news) => hear(news, stream),
    send(text) {
      if (!controller) return;
      const bytes = encoder.encode(text);
      // One thing that is larger than all that may wait has to get through nevertheless.
      if (queued > 0 && queued + bytes.length > maxLagBytes) return close((open) => open.error(new Error("The reader is too slow.")));
      queued += bytes.length;
      controller.enqueue(bytes);
    },
    lags: () => queued > usualLag,
    end: () => close((open) => open.close()),
  };
  keepAlive = setInterval(() => stream.send(": still here\n\n"), keepAliveMs);
  return stream;
}
