/** Bytes on their way between objects: a few as a value, which a call may carry some megabytes of, and more as a stream. */
export type Transfer = Uint8Array | ReadableStream<Uint8Array>;

const maxValueBytes = 1024 * 1024;

export function toTransfer(bytes: Uint8Array): Transfer {
  if (bytes.byteLength > maxValueBytes) return streamChunks(bytes);
  // A part of a buffer would take all of it along.
  return bytes.byteLength === bytes.buffer.byteLength ? bytes : new Uint8Array(bytes);
}

export async function readTransfer(cargo: Transfer): Promise<Uint8Array> {
  return cargo instanceof Uint8Array ? cargo : new Uint8Array(await new Response(cargo).arrayBuffer());
}

/** Taken bit by bit: a copy of all of it would be one more in the memory that everybody shares. */
function streamChunks(bytes: Uint8Array): ReadableStream<Uint8Array> {
  let at = 0;
  return new ReadableStream({
    type: "bytes",
    pull(controller) {
      if (at < bytes.byteLength) {
        // What is handed over is taken away with all of its buffer, so it has to be a copy; `slice` of a Buffer is none.
        controller.enqueue(new Uint8Array(bytes.subarray(at, at + maxValueBytes)));
        at += maxValueBytes;
        return;
      }
      controller.close();
      controller.byobRequest?.respond(0);
    },
  });
}
