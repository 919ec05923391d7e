import { afterAll, beforeAll, expect, test } from "vitest";
import { type BareWorker, startBareWorker } from "../kit/workerd.ts";

let worker: BareWorker;

beforeAll(async () => {
  worker = await startBareWorker(new URL("feedback.worker.ts", import.meta.url), { objects: ["FeedbackObject"] });
});

afterAll(() => worker?.stop());

async function add(from: number, count: number): Promise<object> {
  const response = await fetch(worker.url, { method: "POST", body: JSON.stringify({ from, count }) });
  return (await response.json()) as object;
}

test("the latest 10,000 are kept", async () => {
  expect(await add(1, 10_000)).toEqual({ newest: "message 10000", kept: 10_000, oldest: 1 });
  expect(await add(10_000, 3)).toEqual({ newest: "message 10002", kept: 10_000, oldest: 3 });
});
