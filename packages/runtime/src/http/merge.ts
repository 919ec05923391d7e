/**
 * Several streams of server-sent events as one. An event is never cut by another: what a chunk holds of an
 * unfinished one waits for its end. Nothing is read ahead of a slow reader, and who stops reading stops all.
 */
export function mergeEvents(streams: ReadableStream<Uint8Array>[]): ReadableStream<Uint8Array> {
  const readers = streams.map((stream) => stream.getReader());
  const stop = (reason: unknown) => Promise.allSettled(readers.map((reader) => reader.cancel(reason)));
  let waiting: (() => void)[] = [];

  return new ReadableStream<Uint8Array>({
    start(controller) {
      const send = async (events: Uint8Array) => {
        controller.enqueue(events);
        while ((controller.desiredSize ?? 0) <= 0) await new Promise<void>((resolve) => waiting.push(resolve));
      };
      void Promise.all(readers.map((reader) => pump(reader, send))).then(
        () => controller.close(),
        (error: unknown) => {
          controller.error(error);
          void stop(error);
        },
      );
    },
    pull() {
      const woken = waiting;
      waiting = [];
      for (const wake of woken) wake();
    },
    async cancel(reason) {
      await stop(reason);
    },
  });
}

async function pump(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  send: (events: Uint8Array) => Promise<void>,
): Promise<void> {
  let rest = new Uint8Array();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    const bytes = concatBytes(rest, value);
    const end = findEventsEnd(bytes);
    rest = bytes.slice(end);
    if (end > 0) await send(bytes.slice(0, end));
  }
  if (rest.length > 0) await send(rest);
}

function concatBytes(first: Uint8Array, second: Uint8Array): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(first.length + second.length);
  bytes.set(first);
  bytes.set(second, first.length);
  return bytes;
}

const newline = 0x0a;

/** Where the last whole event ends: after an empty line. */
function findEventsEnd(bytes: Uint8Array): number {
  for (let at = bytes.length - 1; at > 0; at--) {
    if (bytes[at] === newline && bytes[at - 1] === newline) return at + 1;
  }
  return 0;
}
