import { createHash, randomBytes } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type BareWorker, startBareWorker } from "../kit/workerd.ts";

let worker: BareWorker;

beforeAll(async () => {
  const bucket = JSON.stringify(await readFile(new URL("bucket.js", import.meta.url), "utf8"));
  worker = await startBareWorker(new URL("blobs.worker.ts", import.meta.url), {
    bindings: [`(name = "DISK", service = "blobs")`, `(name = "BUCKET", r2Bucket = "bucket")`],
    services: [
      `(name = "blobs", disk = (path = "@/blobs", writable = true))`,
      `(name = "bucket", worker = (modules = [(name = "bucket.js", esModule = ${bucket})], compatibilityDate = "2026-10-01"))`,
    ],
  });
});

afterAll(() => worker?.stop());

const sha256 = (content: Buffer) => createHash("sha256").update(content).digest("hex");

describe.each(["disk", "r2"])("blobs in %s", (adapter) => {
  const put = async (content: Buffer) => {
    const response = await fetch(`${worker.url}/${adapter}`, { method: "PUT", body: new Uint8Array(content) });
    const text = await response.text();
    if (!response.ok) throw new Error(text);
    return text;
  };
  const request = (hash: string, method = "GET") => fetch(`${worker.url}/${adapter}/${hash}`, { method });

  test("a stored blob is returned under the hash of its content", async () => {
    for (const size of [0, 1, 1000, 300_000, 3_000_000]) {
      const content = randomBytes(size);
      const hash = await put(content);
      expect(hash).toBe(sha256(content));
      const response = await request(hash);
      expect(response.status).toBe(200);
      expect(Buffer.from(await response.arrayBuffer()).equals(content)).toBe(true);
    }
  });

  test("storing the same content twice gives the same blob", async () => {
    const content = randomBytes(100);
    expect(await put(content)).toBe(await put(content));
  });

  test("a blob that was never stored is absent, not an error", async () => {
    expect((await request("0".repeat(64))).status).toBe(404);
    expect((await request("0".repeat(64), "HEAD")).status).toBe(404);
  });

  test("a deleted blob is gone, and deleting it again succeeds", async () => {
    const hash = await put(randomBytes(50));
    expect((await request(hash, "HEAD")).status).toBe(200);
    expect((await request(hash, "DELETE")).status).toBe(204);
    expect((await request(hash, "DELETE")).status).toBe(204);
    expect((await request(hash, "HEAD")).status).toBe(404);
    expect((await request(hash)).status).toBe(404);
  });

  test("anything but a hash is rejected before it becomes a path", async () => {
    for (const name of ["..%2f..%2fetc", "x", "A".repeat(64), "0".repeat(63)]) {
      const response = await request(name);
      expect(response.status).toBe(500);
      expect(await response.text()).toContain("not a blob hash");
    }
  });
});

test("a blob on disk is stored under its hash", async () => {
  const content = Buffer.from("stored here");
  await fetch(`${worker.url}/disk`, { method: "PUT", body: new Uint8Array(content) });
  const hash = sha256(content);
  expect(await readdir(join(worker.folder, "blobs", hash.slice(0, 2)))).toContain(hash.slice(2));
});
