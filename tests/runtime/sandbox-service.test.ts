import { afterAll, beforeAll, expect, test } from "vitest";
import { type BareWorker, startBareWorker } from "../kit/workerd.ts";

// The shape of a deployment without a daemon: the sandbox is a Worker with a Worker Loader, bound as a service.

let worker: BareWorker;
let bare: BareWorker;

beforeAll(async () => {
  const entry = new URL("./sandbox-service.worker.ts", import.meta.url);
  worker = await startBareWorker(entry, { sandbox: "service" });
  bare = await startBareWorker(entry, {});
});

afterAll(() => Promise.all([worker?.stop(), bare?.stop()]));

const ask = async (body: object, of = worker): Promise<any> => {
  const answer = await fetch(of.url, { method: "POST", body: JSON.stringify(body) });
  const text = await answer.text();
  return text.startsWith("{") ? JSON.parse(text) : text;
};

test("code runs, calls what it may and returns", async () => {
  const { result } = await ask({ code: "console.log('on it'); return await tools.readFile({ path: 'a' })" });
  expect(result).toEqual({ value: '["tools.readFile",{"path":"a"}]', console: "on it", ms: expect.any(Number) });
});

test("what goes wrong has its kind", async () => {
  expect(await ask({ code: "let a = ;" })).toEqual({
    errorCode: "syntax",
    message: expect.stringContaining("code:1:9"),
  });
  expect(await ask({ code: "console.log('so far'); throw new Error('no')" })).toEqual({
    errorCode: "threw",
    message: expect.stringMatching(/^Error: no\n[^]*console:\nso far$/),
  });
  expect(await ask({ code: "await new Promise((done) => setTimeout(done, 60_000))", timeoutMs: 200 })).toEqual({
    errorCode: "timeout",
    message: "The run took more than 200 ms and was ended.",
  });
  expect(await ask({ code: "await new Promise(() => {})" })).toEqual({
    errorCode: "threw",
    message: expect.stringContaining("waits for something that can never happen"),
  });
  expect(await ask({ code: "await new Promise((done) => setTimeout(done, 60_000))", abortMs: 50 })).toEqual({
    errorCode: "other",
    message: "stopped",
  });
});

test("many runs go on side by side: there are no slots to wait for", async () => {
  const runs = Array.from({ length: 30 }, (_, n) =>
    ask({ code: `await new Promise((done) => setTimeout(done, 50)); return ${n}` }),
  );
  expect((await Promise.all(runs)).map(({ result }) => Number(result.value))).toEqual(runs.map((_, n) => n));
});

test("an app answers, and its answer streams", async () => {
  const app =
    "const words = ['a', 'b', 'c'];\nexport default { fetch: () => new Response(new ReadableStream({ pull(c) { const w = words.shift(); if (w) c.enqueue(new TextEncoder().encode(w)); else c.close(); } })) }";
  expect(await ask({ app })).toBe("abc");
});

test("without a sandbox the call says what is missing", async () => {
  expect(await ask({ code: "return 1" }, bare)).toEqual({
    errorCode: "no_sandbox",
    message: expect.stringContaining("Nothing here is bound as SANDBOX"),
  });
});
