/** Wraps a response so that its sandbox is released once the body has been read, canceled or not read in time. */
export function releaseAfterRead(response: Response, maxMs: number, end: () => void): Response {
  if (!response.body) {
    end();
    return response;
  }
  const reader = response.body.getReader();
  const stop = () => {
    clearTimeout(timer);
    end();
  };
  const timer = setTimeout(() => {
    reader.cancel().catch(() => {});
    stop();
  }, maxMs);
  const body: ReadableStream<Uint8Array> = new ReadableStream({
    type: "bytes",
    async pull(streamController) {
      const controller = streamController as ReadableByteStreamController;
      try {
        const { done, value } = await reader.read();
        if (!done) return controller.enqueue(value as Uint8Array);
        stop();
        controller.close();
        controller.byobRequest?.respond(0);
      } catch (error) {
        stop();
        controller.error(error);
      }
    },
    async cancel() {
      stop();
      await reader.cancel().catch(() => {});
    },
  });
  return new Response(body, response);
}
