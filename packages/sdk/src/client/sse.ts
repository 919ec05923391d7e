import { createParser } from "eventsource-parser";

/** One block of a server-sent event stream. Without data it is not an event, but its id still counts. */
export interface SseBlock {
  id?: string;
  data?: string;
}

/**
 * Parses a stream of server-sent events. Yields once for each chunk received, with the blocks that it completed:
 * possibly none, so that a caller can tell a quiet connection (only comments) from a dead one. An incomplete block at
 * the end of the stream is dropped.
 */
export async function* parseSse(body: ReadableStream<Uint8Array>): AsyncGenerator<SseBlock[]> {
  let blocks: SseBlock[] = [];
  const parser = createParser({
    // Called for blocks without data, too, and before `onEvent` for others.
    onId: (id) => blocks.push({ id }),
    onEvent: ({ id, data }) => {
      if (id === undefined) blocks.push({ data });
      else blocks[blocks.length - 1] = { id, data };
    },
  });
  const reader = body.getReader();
  const decoder = new TextDecoder();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    parser.feed(decoder.decode(value, { stream: true }));
    yield blocks;
    blocks = [];
  }
}
