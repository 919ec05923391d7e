import { afterAll, beforeAll, expect, test } from "vitest";
import { type BareWorker, startBareWorker } from "../kit/workerd.ts";

// A deployment without a daemon: the sandbox is a Worker with a Worker Loader, bound as a service.

let worker: BareWorker;
let bare: BareWorker;

beforeAll(async () => {
  const entry = new URL("./sandbox-service.worker.ts", import.meta.url);
  worker = await startBareWorker(entry, { sandbox: "service" });
  bare = await startBareWorker(entry, {});
});

afterAll(() => Promise.all([worker?.stop(), bare?.stop()]));

const run = async (body: object, target = worker): Promise<any> => {
  const response = await fetch(target.url, { method: "POST", body: JSON.stringify(body) });
  const text = await response.text();
  return text.startsWith("{") ? JSON.parse(text) : text;
};

test("code runs, uses its capabilities and returns", async () => {
  const { result } = await run({ code: "console.log('on it'); return await tools.readFile({ path: 'a' })" });
  expect(result).toEqual({ value: '["tools.readFile",{"path":"a"}]', console: "on it", ms: expect.any(Number) });
});

test("errors have a kind", async () => {
  expect(await run({ code: "let a = ;" })).toEqual({
    errorCode: "syntax",
    message: expect.stringContaining("code:1:9"),
  });
  expect(await run({ code: "console.log('so far'); throw new Error('no')" })).toEqual({
    errorCode: "threw",
    message: expect.stringMatching(/^Error: no\n[^]*console:\nso far$/),
  });
  expect(await run({ code: "await new Promise((done) => setTimeout(done, 60_000))", timeoutMs: 200 })).toEqual({
    errorCode: "timeout",
    message: "The run did not finish within 200 ms and was stopped.",
  });
  expect(await run({ code: "await new Promise(() => {})" })).toEqual({
    errorCode: "threw",
    message: expect.stringContaining("awaits a promise that can never resolve"),
  });
  expect(await run({ code: "await new Promise((done) => setTimeout(done, 60_000))", abortMs: 50 })).toEqual({
    errorCode: "other",
    message: "stopped",
  });
});

test("many runs are concurrent: there are no slots to wait for", async () => {
  const runs = Array.from({ length: 30 }, (_, n) =>
    run({ code: `await new Promise((done) => setTimeout(done, 50)); return ${n}` }),
  );
  expect((await Promise.all(runs)).map(({ result }) => Number(result.value))).toEqual(runs.map((_, n) => n));
});

test("an app's response is streamed", async () => {
  const app =
    "const words = ['a', 'b', 'c'];\nexport default { fetch: () => new Response(new ReadableStream({ pull(c) { const w = words.shift(); if (w) c.enqueue(new TextEncoder().encode(w)); else c.close(); } })) }";
  expect(await run({ app })).toBe("abc");
});

test("without a sandbox the error says what is missing", async () => {
  expect(await run({ code: "return 1" }, bare)).toEqual({
    errorCode: "no_sandbox",
    message: expect.stringContaining("There is no binding SANDBOX"),
  });
});
