/**
 * Merges several streams of server-sent events without splitting an event: an incomplete one is held back until its
 * end. Reads nothing ahead of a slow reader; canceling cancels all sources.
 */
export function mergeEvents(
  streams: ReadableStream<Uint8Array>[],
  /** `until`: the one of them that ends the whole. Otherwise, all have to end. */
  { until }: { until?: ReadableStream<Uint8Array> } = {},
): ReadableStream<Uint8Array> {
  const last = until && streams.indexOf(until);
  const readers = streams.map((stream) => stream.getReader());
  const cancelAll = (reason: unknown) => Promise.allSettled(readers.map((reader) => reader.cancel(reason)));
  let waiting: (() => void)[] = [];

  return new ReadableStream<Uint8Array>({
    start(controller) {
      const send = async (events: Uint8Array) => {
        controller.enqueue(events);
        while ((controller.desiredSize ?? 0) <= 0) await new Promise<void>((resolve) => waiting.push(resolve));
      };
      const pumps = readers.map((reader) => pump(reader, send));
      void (last === undefined ? Promise.all(pumps) : Promise.race([pumps[last], rejectFirst(pumps)])).then(
        () => {
          controller.close();
          if (last !== undefined) void cancelAll("The end was reached.");
        },
        (error: unknown) => {
          controller.error(error);
          void cancelAll(error);
        },
      );
    },
    pull() {
      const resolvers = waiting;
      waiting = [];
      for (const resolve of resolvers) resolve();
    },
    async cancel(reason) {
      await cancelAll(reason);
    },
  });
}

/** Rejects as soon as one does, and never resolves. */
function rejectFirst(promises: readonly Promise<void>[]): Promise<never> {
  return new Promise((_, reject) => {
    for (const promise of promises) promise.catch(reject);
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

/** Returns the end of the last complete event, after its empty line. */
function findEventsEnd(bytes: Uint8Array): number {
  for (let at = bytes.length - 1; at > 0; at--) {
    if (bytes[at] === newline && bytes[at - 1] === newline) return at + 1;
  }
  return 0;
}
