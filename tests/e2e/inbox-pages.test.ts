import type { Approval, Question } from "@thinkery/sdk";
import { afterAll, beforeAll, expect, test } from "vitest";
import { waitUntil } from "../kit/wait-until.ts";
import { openTestbed, type Testbed } from "../kit/worker/testbed.ts";

// Lists of what waits for a person: page by page, each item once, and none lost.

let testbed: Testbed;

const long = "x".repeat(50_000);
const write = { call: { tool: "writeFile", input: { path: "a.txt", content: long } } };

beforeAll(async () => {
  testbed = await openTestbed({
    config: { maxFailuresPerMinute: 1000, sandboxSlots: 0 },
    scripts: {
      default: [
        { when: "ask", steps: [{ call: { tool: "askUser", input: { prompt: "Which one?" } } }, { text: "ok" }] },
        { steps: [write, { text: "{{ results.0 }}" }] },
      ],
    },
  });
});

afterAll(() => testbed?.stop());

interface Page {
  approvals?: Approval[];
  questions?: Question[];
  next?: string;
}

/** Reads a list to its end, and returns its pages. */
async function readPages(path: string, query = ""): Promise<string[][]> {
  const pages: string[][] = [];
  for (let after: string | undefined; ;) {
    const { body } = await testbed.api(`${path}?${query}${after ? `&after=${encodeURIComponent(after)}` : ""}`);
    const { approvals, questions, next } = body as Page;
    pages.push((approvals ?? questions ?? []).map(({ id }) => id));
    if (next === undefined) return pages;
    after = next;
  }
}

async function start(count: number, message: string) {
  const config = { hitl: { tools: ["writeFile"] } };
  const blueprint = await testbed.newBlueprint({ model: "scripted:default", config });
  const agents = await Promise.all(Array.from({ length: count }, () => testbed.newAgent({ blueprint })));
  for (const agent of agents) await agent.invoke({ message });
  return agents;
}

test("approvals and questions are listed in pages, oldest first, also while some are answered", async () => {
  await start(5, "write");
  await start(3, "ask");
  const all = await waitUntil("all to wait", async () => {
    const [ids = []] = await readPages("/approvals");
    const [questions = []] = await readPages("/questions");
    return ids.length === 5 && questions.length === 3 ? { ids, questions } : undefined;
  });
  expect(await readPages("/approvals", "limit=2")).toEqual([
    all.ids.slice(0, 2),
    all.ids.slice(2, 4),
    all.ids.slice(4),
  ]);
  expect(await readPages("/agency/global/approvals", "limit=5")).toEqual([all.ids]);
  expect(await readPages("/questions", "limit=2")).toEqual([all.questions.slice(0, 2), all.questions.slice(2)]);
  expect(await readPages("/approvals", `id=${all.ids[3]}`)).toEqual([[all.ids[3]]]);

  // The next page begins after the last item of the one before, even if that is gone.
  const { body } = await testbed.api("/approvals?limit=2");
  await testbed.api(`/approvals/${all.ids[1]}`, "POST", { approved: false });
  await waitUntil(
    "the answer to arrive",
    async () => !(await readPages("/approvals")).flat().includes(all.ids[1] ?? ""),
  );
  const rest = await testbed.api(`/approvals?after=${encodeURIComponent((body as { next: string }).next)}`);
  expect((rest.body as { approvals: Approval[] }).approvals.map(({ id }) => id)).toEqual(all.ids.slice(2));

  expect((await testbed.api("/approvals?after=nonsense")).status).toBe(400);
  expect((await testbed.api("/approvals?limit=501")).status).toBe(400);
});

test("a page ends by size, and an agent's own list has pages, newest first", async () => {
  const [agent] = await start(1, "write");
  if (!agent) throw new Error("no agent");
  for (let turn = 0; turn < 24; turn++) {
    await waitUntil("the approval", async () => {
      const { body } = await testbed.api(`${agent.at}/approvals?status=pending`);
      const [approval] = (body as { approvals: Approval[] }).approvals;
      return approval && (await testbed.api(`/approvals/${approval.id}`, "POST", { approved: false })).status === 200;
    });
    await agent.invoke({ message: "write" });
  }
  const pages = await readPages(`${agent.at}/approvals`, "status=denied");
  expect(pages.length).toBeGreaterThan(1);
  expect(new Set(pages.flat()).size).toBe(24);
  expect(await readPages(`${agent.at}/approvals`, "status=denied&limit=10")).toEqual([
    pages.flat().slice(0, 10),
    pages.flat().slice(10, 20),
    pages.flat().slice(20),
  ]);
  expect(await readPages(`${agent.at}/approvals`, `id=${pages[0]?.[0]}`)).toEqual([[pages[0]?.[0]]]);
});
