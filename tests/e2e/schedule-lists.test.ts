import type { AgentExport, Schedule, ScheduleList } from "@thinkery/sdk";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openTestbed, type Testbed } from "../kit/worker/testbed.ts";

let testbed: Testbed;

beforeAll(async () => {
  testbed = await openTestbed({ scripts: { idle: [{ steps: [{ text: "ok" }] }] } });
}, 60_000);

afterAll(() => testbed?.stop());

/** Reads all pages. Returns them with the number of characters of each. */
async function readPages(path: string, limit: number) {
  const pages: { schedules: Schedule[]; chars: number }[] = [];
  for (let after = ""; ;) {
    const { body } = await testbed.api(`${path}?limit=${limit}${after}`);
    const { schedules, next } = body as ScheduleList;
    pages.push({ schedules, chars: JSON.stringify(schedules).length });
    if (next === undefined) return pages;
    after = `&after=${next}`;
  }
}

test.each(["agent", "agency"])("a page of the schedules of an %s ends before it gets long", async (owner) => {
  const agent = await testbed.newAgent({ model: "scripted:idle" });
  const at = owner === "agent" ? agent.at : "/agency/global";
  const input = (index: number) => `${index} `.padEnd(100_000, "x");
  for (let index = 0; index < 25; index++) {
    const body = { when: "0 0 1 1 *", input: input(index), ...(owner === "agent" ? {} : { agent: agent.name }) };
    expect((await testbed.api(`${at}/schedules`, "POST", body)).status).toBe(201);
  }
  const pages = await readPages(`${at}/schedules`, 500);
  expect(pages.map(({ schedules }) => schedules.length)).toEqual([9, 9, 7]);
  for (const { chars } of pages) expect(chars).toBeLessThanOrEqual(1_000_000);
  const expected = Array.from({ length: 25 }, (_, index) => input(index));
  expect(pages.flatMap(({ schedules }) => schedules.map((schedule) => schedule.input))).toEqual(expected);
  // Also if the number of schedules divides into full pages.
  const small = await readPages(`${at}/schedules`, 5);
  expect(small.map(({ schedules }) => schedules.length)).toEqual([5, 5, 5, 5, 5]);
  if (owner === "agency") return;
  const exported = (await testbed.api(`${at}/export`)).body as AgentExport;
  expect(exported.schedules).toEqual(pages.flatMap(({ schedules }) => schedules));
});
