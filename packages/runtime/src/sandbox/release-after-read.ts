/** An answer whose sandbox is given back when its body has been read, or nobody reads on. */
export function releaseAfterRead(answer: Response, mostMs: number, end: () => void): Response {
  if (!answer.body) {
    end();
    return answer;
  }
  const reader = answer.body.getReader();
  const stop = () => {
    clearTimeout(timer);
    end();
  };
  const timer = setTimeout(() => {
    reader.cancel().catch(() => {});
    stop();
  }, mostMs);
  const body: ReadableStream<Uint8Array> = new ReadableStream({
    type: "bytes",
    async pull(opened) {
      const controller = opened as ReadableByteStreamController;
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
  return new Response(body, answer);
}
