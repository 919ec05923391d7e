import { expect, test } from "vitest";
import { decodeFileTransfers, encodeFileTransfer } from "./file-transfer.ts";

async function* splitBytes(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.slice(at, at + size);
}

const all = new Uint8Array(
  [
    ...encodeFileTransfer({ a: "grüße\n" }, Uint8Array.of(10, 0, 255, 10)),
    ...encodeFileTransfer({ b: 1 }),
    ...encodeFileTransfer({ c: 2 }, new Uint8Array(0)),
    ...encodeFileTransfer({ d: 3 }, new Uint8Array(5000).fill(7)),
  ].flatMap((piece) => [...piece]),
);

test("transfers are decoded as they were encoded, however the stream is split", async () => {
  for (const size of [1, 3, 1000, 100_000]) {
    const found = [];
    for await (const { header, bytes } of decodeFileTransfers(splitBytes(all, size), 5000))
      found.push([header, [...bytes]]);
    expect(found).toEqual([
      [{ a: "grüße\n", size: 4 }, [10, 0, 255, 10]],
      [{ b: 1 }, []],
      [{ c: 2, size: 0 }, []],
      [{ d: 3, size: 5000 }, Array(5000).fill(7)],
    ]);
  }
});

test("a truncated transfer and one that is too large are errors", async () => {
  const drain = async (bytes: Uint8Array, maxBytes: number) => {
    for await (const _ of decodeFileTransfers(splitBytes(bytes, 700), maxBytes));
  };
  await expect(drain(all.subarray(0, -1), 5000)).rejects.toThrow("ended");
  await expect(drain(all.subarray(0, 5), 5000)).rejects.toThrow("ended");
  await expect(drain(all, 4999)).rejects.toThrow("larger");
  for (const size of [-1, 0.5, "7", null]) {
    const header = new TextEncoder().encode(`{"size":${JSON.stringify(size)}}\n`);
    await (size === null ? drain(header, 10) : expect(drain(header, 10)).rejects.toThrow());
  }
});
