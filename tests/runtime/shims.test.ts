import { afterAll, beforeAll, expect, test } from "vitest";
import { type BareWorker, startBareWorker } from "../kit/workerd.ts";

let worker: BareWorker;

beforeAll(async () => {
  worker = await startBareWorker(new URL("./shims.worker.ts", import.meta.url), {});
});

afterAll(() => worker?.stop());

test("the lazily loaded MCP client can be constructed and passes instanceof checks", async () => {
  const seen = await (await fetch(worker.url)).json();
  expect(seen).toEqual({ before: false, client: true, transport: true, crossed: false, connects: "function" });
});
