import { defineTool, ToolImage } from "@thinkery/sdk";
import { expect, test } from "vitest";
import { z } from "zod";
import type { Blobs } from "../store/blobs/blobs.ts";
import { createOutput, UnusableOutputError } from "./output.ts";

const probe = defineTool({ name: "probe", description: "Probes.", inputSchema: z.object({}) }, () => "");

function createMemoryBlobs(): Blobs & { held: Map<string, Uint8Array> } {
  const held = new Map<string, Uint8Array>();
  return {
    held,
    put: async (content) => {
      const hash = `hash-${held.size}`;
      held.set(hash, content);
      return hash;
    },
    get: async (hash) => held.get(hash),
    has: async (hash) => held.has(hash),
    delete: async (hash) => void held.delete(hash),
  };
}

test("text stays text, data becomes JSON, nothing becomes a word", async () => {
  expect((await createOutput(probe, "c", "plain", createMemoryBlobs())).text).toBe("plain");
  expect((await createOutput(probe, "c", { a: [1, 2n] }, createMemoryBlobs())).text).toBe('{"a":[1,"2"]}');
  expect((await createOutput(probe, "c", undefined, createMemoryBlobs())).text).toBe("Done.");
  expect((await createOutput(probe, "c", null, createMemoryBlobs())).text).toBe("Done.");
});

test("a result of more than 50 KB goes to the blob store whole, and the model gets its head and tail", async () => {
  const blobs = createMemoryBlobs();
  const text = `start${"x".repeat(60 * 1024)}end`;
  const output = await createOutput(probe, "c", text, blobs);
  expect(output.result).toMatchObject({ blob: "hash-0", mediaType: "text/plain", size: text.length });
  expect(output.result.preview).toHaveLength(500);
  expect(new TextDecoder().decode(blobs.held.get("hash-0"))).toBe(text);
  expect(output.text.length).toBeLessThan(50 * 1024);
  expect(output.text).toMatch(/^start[\s\S]*characters left out[\s\S]*end$/);
});

test("a picture always goes to the blob store", async () => {
  const blobs = createMemoryBlobs();
  const { result, text } = await createOutput(
    probe,
    "c",
    new ToolImage("image/png", new Uint8Array([1, 2]), "a dot"),
    blobs,
  );
  expect(result).toMatchObject({ blob: "hash-0", mediaType: "image/png", size: 2 });
  expect(text).toContain("a dot");
});

test("a circular value and one of 50 MB are the tool's fault, and the message says what is wrong", async () => {
  const circular: Record<string, unknown> = {};
  circular.self = circular;
  await expect(createOutput(probe, "c", circular, createMemoryBlobs())).rejects.toThrow(UnusableOutputError);
  await expect(createOutput(probe, "c", "x".repeat(50 * 1024 * 1024), createMemoryBlobs())).rejects.toThrow(
    /50 MB.*10 MB/,
  );
});
