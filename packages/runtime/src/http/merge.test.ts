import { expect, test } from "vitest";
import { createRandom } from "../../../../tests/kit/random.ts";
import { mergeEvents } from "./merge.ts";

const encoder = new TextEncoder();

/** A stream that delivers these chunks on demand and counts reads. */
function createSource(chunks: Uint8Array[]) {
  const seen = { read: 0, canceled: false };
  const stream = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        const chunk = chunks[seen.read++];
        if (chunk) controller.enqueue(chunk);
        else controller.close();
      },
      cancel() {
        seen.canceled = true;
      },
    },
    { highWaterMark: 0 },
  );
  return { stream, seen };
}

test("events arrive complete and in the order of their source, however their bytes are chunked", async () => {
  const random = createRandom("merge");
  const sent = ["a", "b", "c"].map((agent) =>
    Array.from({ length: 50 }, (_, n) => `event: chunk\ndata: ${agent} ${n} häß\n\n`),
  );
  const streams = sent.map((events) => {
    const bytes = encoder.encode(events.join(""));
    const chunks: Uint8Array[] = [];
    for (let at = 0; at < bytes.length;) {
      const size = 1 + random.below(60);
      chunks.push(bytes.slice(at, at + size));
      at += size;
    }
    return createSource(chunks).stream;
  });
  const text = await new Response(mergeEvents(streams)).text();
  const events = text.split(/(?<=\n\n)/);
  for (const [index, agent] of ["a", "b", "c"].entries()) {
    expect(events.filter((event) => event.includes(`data: ${agent} `))).toEqual(sent[index]);
  }
  expect(events).toHaveLength(150);
});

test("nothing is read ahead of a slow reader, and canceling cancels all sources", async () => {
  const endless = () => createSource(Array.from({ length: 1000 }, () => encoder.encode("data: x\n\n")));
  const [one, two] = [endless(), endless()];
  const reader = mergeEvents([one.stream, two.stream]).getReader();
  await reader.read();
  await new Promise((resolve) => setImmediate(resolve));
  expect(one.seen.read + two.seen.read).toBeLessThan(10);
  await reader.cancel();
  expect([one.seen.canceled, two.seen.canceled]).toEqual([true, true]);
});

test("an error in one source fails the merged stream and cancels the others", async () => {
  const other = createSource(Array.from({ length: 1000 }, () => encoder.encode("data: x\n\n")));
  const broken = new ReadableStream<Uint8Array>({
    pull(controller) {
      controller.error(new Error("gone"));
    },
  });
  await expect(new Response(mergeEvents([other.stream, broken])).text()).rejects.toThrow("gone");
  expect(other.seen.canceled).toBe(true);
});
