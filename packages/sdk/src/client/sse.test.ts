import { expect, test } from "vitest";
import { random } from "../../../../tests/kit/random.ts";
import { type Block, blocksIn } from "./sse.ts";

async function read(...pieces: Uint8Array[]): Promise<Block[]> {
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const piece of pieces) controller.enqueue(piece);
      controller.close();
    },
  });
  const blocks: Block[] = [];
  for await (const block of blocksIn(body)) blocks.push(block);
  return blocks;
}

const bytes = (text: string) => new TextEncoder().encode(text);

test("wherever a stream is cut into pieces, its blocks are the same", async () => {
  const chance = random("sse");
  const data = JSON.stringify({ text: "häß 🎈 \u2028\u2029 line", colon: "a: b" });
  for (const end of ["\n", "\r\n", "\r"]) {
    const whole = bytes([": welcome", "id: 4", "", "id: 5", "event: x", `data: ${data}`, "", "data:1", "data: 2", "", "data", "", ""].join(end));
    for (let round = 0; round < 50; round++) {
      const pieces: Uint8Array[] = [];
      for (let at = 0; at < whole.length; ) {
        const next = at + 1 + chance.below(9);
        pieces.push(whole.slice(at, next));
        at = next;
      }
      // A lone CR at the very end may be half of a line's end, so what it ends is not told yet.
      expect(await read(...pieces)).toEqual([{ id: "4" }, { id: "5", data }, { data: "1\n2" }, ...(end === "\r" ? [] : [{ data: "" }])]);
    }
  }
});

test("a block that the stream ends in was never said", async () => {
  expect(await read(bytes("data: 1\n\ndata: 2\n"))).toEqual([{ data: "1" }]);
  expect(await read()).toEqual([]);
});
