export interface ServerSentEvent {
  id?: string;
  type: string;
  data: string;
}

/** Yields a response's events as they arrive; leaving the loop closes the connection. */
export async function* readEvents(response: Response): AsyncGenerator<ServerSentEvent> {
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  if (!reader) return;
  let text = "";
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      text += value;
      const blocks = text.split("\n\n");
      text = blocks.pop() ?? "";
      for (const block of blocks) {
        const event = parseEvent(block);
        if (event) yield event;
      }
    }
  } finally {
    await reader.cancel().catch(() => {});
  }
}

function parseEvent(block: string): ServerSentEvent | undefined {
  const lines = block.split("\n");
  const field = (name: string) => lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2);
  const [id, data] = [field("id"), field("data")];
  // Like a browser, ignores blocks without data.
  return data === undefined
    ? undefined
    : { type: field("event") ?? "message", data, ...(id === undefined ? {} : { id }) };
}
