import { expect, test } from "vitest";
import { packed, parcelsIn } from "./parcel.ts";

async function* inPieces(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.slice(at, at + size);
}

const all = new Uint8Array(
  [...packed({ a: "grüße\n" }, Uint8Array.of(10, 0, 255, 10)), ...packed({ b: 1 }), ...packed({ c: 2 }, new Uint8Array(0)), ...packed({ d: 3 }, new Uint8Array(5000).fill(7))].flatMap((piece) => [...piece]),
);

test("parcels come out as they went in, however the stream is cut", async () => {
  for (const size of [1, 3, 1000, 100_000]) {
    const found = [];
    for await (const { label, bytes } of parcelsIn(inPieces(all, size), 5000)) found.push([label, [...bytes]]);
    expect(found).toEqual([
      [{ a: "grüße\n", size: 4 }, [10, 0, 255, 10]],
      [{ b: 1 }, []],
      [{ c: 2, size: 0 }, []],
      [{ d: 3, size: 5000 }, Array(5000).fill(7)],
    ]);
  }
});

test("a stream that ends within a parcel, and one that is too large, is an error", async () => {
  const drain = async (bytes: Uint8Array, largest: number) => {
    for await (const _ of parcelsIn(inPieces(bytes, 700), largest));
  };
  await expect(drain(all.subarray(0, -1), 5000)).rejects.toThrow("ended");
  await expect(drain(all.subarray(0, 5), 5000)).rejects.toThrow("ended");
  await expect(drain(all, 4999)).rejects.toThrow("larger");
  for (const size of [-1, 0.5, "7", null]) {
    const label = new TextEncoder().encode(`{"size":${JSON.stringify(size)}}\n`);
    await (size === null ? drain(label, 10) : expect(drain(label, 10)).rejects.toThrow());
  }
});
