import { afterAll, beforeAll, expect, test } from "vitest";
import { type BareWorker, startBareWorker } from "../kit/workerd.ts";

let worker: BareWorker;

beforeAll(async () => {
  worker = await startBareWorker(new URL("schedule-book.worker.ts", import.meta.url), { objects: ["BookObject"] });
});

afterAll(() => worker?.stop());

async function call(step: string, input: object = {}): Promise<{ result: any; admitted: string[] }> {
  const response = await fetch(`${worker.url}/book`, { method: "POST", body: JSON.stringify({ step, ...input }) });
  if (!response.ok) throw new Error(`${step}: ${await response.text()}`);
  return response.json() as Promise<{ result: any; admitted: string[] }>;
}

test("a run that is asked for again after a crash is the same run, and its message is admitted once", async () => {
  const { id } = (await call("create")).result;
  const first = await call("run", { id, key: "call:turn:c1" });
  expect(first).toMatchObject({ result: { status: "ran", manual: true }, admitted: [`schedule:${id}:call:turn:c1`] });
  expect(await call("run", { id, key: "call:turn:c1" })).toEqual({ result: first.result, admitted: [] });
  expect((await call("run", { id, key: "call:turn:c2" })).admitted).toHaveLength(1);
  // A person who asks twice gets two.
  for (let time = 0; time < 2; time++) expect((await call("run", { id })).admitted).toHaveLength(1);
  expect((await call("runs", { id })).result.runs).toHaveLength(4);
});
