import { defineTool, ToolImage } from "@thinkery/sdk";
import { expect, test } from "vitest";
import { z } from "zod";
import type { Blobs } from "../store/blobs/blobs.ts";
import { createOutput, UnusableOutputError } from "./output.ts";

const probe = defineTool({ name: "probe", description: "Probes.", inputSchema: z.object({}) }, () => "");

function createMemoryBlobs(): Blobs & { stored: Map<string, Uint8Array> } {
  const stored = new Map<string, Uint8Array>();
  return {
    stored,
    put: async (content) => {
      const hash = `hash-${stored.size}`;
      stored.set(hash, content);
      return hash;
    },
    get: async (hash) => stored.get(hash),
  };
}

test("text stays text, data becomes JSON, and no output becomes “Done.”", async () => {
  expect((await createOutput(probe, "c", "plain", createMemoryBlobs())).text).toBe("plain");
  expect((await createOutput(probe, "c", { a: [1, 2n] }, createMemoryBlobs())).text).toBe('{"a":[1,"2"]}');
  expect((await createOutput(probe, "c", undefined, createMemoryBlobs())).text).toBe("Done.");
  expect((await createOutput(probe, "c", null, createMemoryBlobs())).text).toBe("Done.");
});

test("a result over 50 KB is stored as a blob, and the model gets its head and tail", async () => {
  const blobs = createMemoryBlobs();
  const text = `start${"x".repeat(60 * 1024)}end`;
  const output = await createOutput(probe, "c", text, blobs);
  expect(output.result).toMatchObject({ blob: "hash-0", mediaType: "text/plain", size: text.length });
  expect(output.result.preview).toHaveLength(500);
  expect(new TextDecoder().decode(blobs.stored.get("hash-0"))).toBe(text);
  expect(output.text.length).toBeLessThan(50 * 1024);
  expect(output.text).toMatch(/^start[\s\S]*characters omitted[\s\S]*end$/);
});

test("an image is always stored as a blob", async () => {
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

test("circular values and results of 50 MB are tool errors with a reason", async () => {
  const circular: Record<string, unknown> = {};
  circular.self = circular;
  await expect(createOutput(probe, "c", circular, createMemoryBlobs())).rejects.toThrow(UnusableOutputError);
  await expect(createOutput(probe, "c", "x".repeat(50 * 1024 * 1024), createMemoryBlobs())).rejects.toThrow(
    /50 MB.*10 MB/,
  );
});
