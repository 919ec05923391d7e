export interface ServerSentEvent {
  id?: string;
  type: string;
  data: string;
}

/** Reads an answer's events as they come; leaving the loop ends the connection. */
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
  // Without data it is no event, as for a browser.
  return data === undefined
    ? undefined
    : { type: field("event") ?? "message", data, ...(id === undefined ? {} : { id }) };
}
