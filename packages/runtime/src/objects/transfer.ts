/**
 * Bytes passed between objects: as a value if small (RPC values are limited to some megabytes), otherwise as a stream.
 */
export type Transfer = Uint8Array | ReadableStream<Uint8Array>;

const maxValueBytes = 1024 * 1024;

export function toTransfer(bytes: Uint8Array): Transfer {
  if (bytes.byteLength > maxValueBytes) return streamChunks(bytes);
  // A view would transfer its whole buffer.
  return bytes.byteLength === bytes.buffer.byteLength ? bytes : new Uint8Array(bytes);
}

export async function readTransfer(transfer: Transfer): Promise<Uint8Array> {
  return transfer instanceof Uint8Array ? transfer : new Uint8Array(await new Response(transfer).arrayBuffer());
}

/** Copies chunk by chunk: a copy of everything would take up memory that all agents share. */
function streamChunks(bytes: Uint8Array): ReadableStream<Uint8Array> {
  let at = 0;
  return new ReadableStream({
    type: "bytes",
    pull(controller) {
      if (at < bytes.byteLength) {
        // Enqueuing transfers the whole buffer, so the chunk must be a copy; `slice` of a Buffer is not.
        controller.enqueue(new Uint8Array(bytes.subarray(at, at + maxValueBytes)));
        at += maxValueBytes;
        return;
      }
      controller.close();
      controller.byobRequest?.respond(0);
    },
  });
}
