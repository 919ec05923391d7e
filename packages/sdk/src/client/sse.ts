/** One block of a stream of server-sent events. One without data is no event, but its id counts. */
export interface Block {
  id?: string;
  data?: string;
}

const lineEnd = /\r\n|\n|\r(?!$)/;

/** Reads the blocks of a stream as they come. A block that the stream ends in was never said. */
export async function* blocksIn(body: ReadableStream<Uint8Array>): AsyncGenerator<Block> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let rest = "";
  let block: Block = {};
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const lines = (rest + decoder.decode(value, { stream: true })).split(lineEnd);
    rest = lines.pop() ?? "";
    for (const line of lines) {
      if (line !== "") block = extended(block, line);
      else {
        yield block;
        block = {};
      }
    }
  }
}

function extended(block: Block, line: string): Block {
  const colon = line.includes(":") ? line.indexOf(":") : line.length;
  const field = line.slice(0, colon);
  const value = line.slice(colon + (line[colon + 1] === " " ? 2 : 1));
  if (field === "id") return { ...block, id: value };
  if (field === "data") return { ...block, data: block.data === undefined ? value : `${block.data}\n${value}` };
  return block;
}
