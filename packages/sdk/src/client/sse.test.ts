import { expect, test } from "vitest";
import { createRandom } from "../../../../tests/kit/random.ts";
import { parseSse, type SseBlock } from "./sse.ts";

async function read(...chunks: Uint8Array[]): Promise<SseBlock[]> {
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(chunk);
      controller.close();
    },
  });
  const blocks: SseBlock[] = [];
  for await (const some of parseSse(body)) blocks.push(...some);
  return blocks;
}

const bytes = (text: string) => new TextEncoder().encode(text);

test("the blocks of a stream do not depend on how it is split into chunks", async () => {
  const random = createRandom("sse");
  const data = JSON.stringify({ text: "häß 🎈 \u2028\u2029 line", colon: "a: b" });
  for (const end of ["\n", "\r\n", "\r"]) {
    const whole = bytes(
      [
        ": welcome",
        "id: 4",
        "",
        "id: 5",
        "event: x",
        `data: ${data}`,
        "",
        "data:1",
        "data: 2",
        "",
        "data",
        "",
        "",
      ].join(end),
    );
    for (let round = 0; round < 50; round++) {
      const chunks: Uint8Array[] = [];
      for (let at = 0; at < whole.length;) {
        const next = at + 1 + random.below(9);
        chunks.push(whole.slice(at, next));
        at = next;
      }
      expect(await read(...chunks)).toEqual([{ id: "4" }, { id: "5", data }, { data: "1\n2" }, { data: "" }]);
    }
  }
});

test("a chunk without a complete block is still yielded", async () => {
  const found: SseBlock[][] = [];
  const body = new Blob([": still here\n\n"]).stream();
  for await (const blocks of parseSse(body)) found.push(blocks);
  expect(found).toEqual([[]]);
});

test("an incomplete block at the end of the stream is dropped", async () => {
  expect(await read(bytes("data: 1\n\ndata: 2\n"))).toEqual([{ data: "1" }]);
  expect(await read()).toEqual([]);
});
