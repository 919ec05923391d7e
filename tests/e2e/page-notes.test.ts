import { mkdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { createLoginLink, openBrowser, openPage } from "../kit/browser.ts";
import { findIdleStatus, say, findText } from "../kit/chat.ts";
import { type Answer, type ModelServer, openModelServer, type SeenRequest } from "../kit/model-server.ts";
import { waitUntil } from "../kit/wait-until.ts";
import { openTestbed, type Testbed } from "../kit/worker/testbed.ts";

// What happens to a conversation between its messages, as a person at the page sees it, live and after a reload.

const shots = fileURLToPath(new URL("../../test-output/page/", import.meta.url));
const phone = { viewport: { width: 390, height: 780 }, hasTouch: true };
const limit = 4_000;
let server: ModelServer;
let workshop: Testbed;
let browser: Browser;

beforeAll(async () => {
  mkdirSync(shots, { recursive: true });
  server = await openModelServer({ models: ["brief"] });
  server.setLimit("brief", limit);
  server.answer(answer);
  const call = (tool: string, input: object = {}) => ({ call: { tool, input } });
  [workshop, browser] = await Promise.all([
    openTestbed({
      worker: new URL("../kit/worker/system.worker.ts", import.meta.url),
      config: {
        providers: { local: { baseUrl: `${server.url}/v1` } },
        contextTokens: { "local:brief": limit },
        turn: { heartbeatSeconds: 1 },
      },
      scripts: {
        default: [
          {
            when: "steps",
            steps: [call("echo", { text: "one" }), call("echo", { text: "two" }), { text: "Three steps." }],
          },
          {
            when: "wait",
            steps: [
              { text: "I will ask." },
              {
                calls: [
                  { tool: "later", input: { note: "first" } },
                  { tool: "later_alone", input: {} },
                ],
              },
              { text: "Both have answered." },
            ],
          },
          { steps: [{ text: "You said: {{ message }}" }] },
        ],
      },
    }),
    openBrowser(),
  ]);
});

afterAll(async () => {
  await browser?.close();
  await workshop?.stop();
  await server?.stop();
});

function answer({ raw }: SeenRequest): Answer {
  return raw.includes("You condense the older part of a conversation")
    ? { text: "They talked about kumquats.\n\n- They are `small`." }
    : { text: "Understood." };
}

async function openAgent(agent: string, options: Parameters<typeof openPage>[1] = {}) {
  const visited = await openPage(browser, { viewport: { width: 1280, height: 800 }, ...options });
  onTestFinished(() => visited.context.close());
  await visited.page.goto(await createLoginLink(workshop.house()));
  await visited.page.getByRole("heading", { name: "Welcome" }).waitFor();
  await visited.page.goto(`${workshop.house().url}/app/global/${agent}`);
  // Connected: what is told from now on is told as it happens.
  await findIdleStatus(visited.page).waitFor();
  return visited;
}

/** What stands in the transcript: the role of each message, the kind of each note. */
const readOrder = (page: Page) =>
  page
    .locator(".transcript-inside > *")
    .evaluateAll((lines) =>
      lines.map((line) => (line as HTMLElement).dataset.role ?? (line as HTMLElement).dataset.note ?? line.className),
    );

const hasNoOverflow = (page: Page) =>
  page.evaluate(() => document.documentElement.scrollWidth <= document.documentElement.clientWidth);

const words = "All work and no play makes a conversation long, and longer with every word that is said in it. ";

test("how full the model's context is follows the conversation, and what makes it shorter is told in its place", async () => {
  const agent = await workshop.newAgent({ model: "local:brief" });
  const { page, complaints } = await openAgent(agent.name);
  const meter = page.getByRole("meter", { name: "Context" });
  expect(await meter.count()).toBe(0);
  await say(page, "Hello.");
  await findText(page, "Understood.").waitFor();
  await findIdleStatus(page).waitFor();
  const level = async () => Number(await meter.getAttribute("aria-valuenow"));
  const first = await level();
  expect(first).toBeGreaterThan(0);
  expect(await meter.getAttribute("aria-valuetext")).toMatch(
    /^\d+ % of what brief reads at once: [\d,]+ of 4,000 tokens\.$/,
  );
  // As the host itself counts.
  const context = () => page.locator(".context-meter").innerText();
  await page.reload();
  await waitUntil("the same after a reload", async () => (await level()) === first);

  const seen: number[] = [];
  const compaction = page.locator('[data-note="compaction"]');
  let turns = 0;
  while ((await compaction.count()) === 0) {
    expect(++turns).toBeLessThan(20);
    await say(page, `Turn ${turns}. ${words.repeat(12)}`);
    await waitUntil("the answer", async () => (await findText(page, "Understood.").count()) === turns + 1);
    await findIdleStatus(page).waitFor();
    seen.push(await level());
  }
  const highest = Math.max(...seen);
  expect(highest).toBeGreaterThan(first + 30);
  expect(seen.at(-1)).toBeLessThan(highest);
  expect(await context()).toContain(`${seen.at(-1)} % of what brief reads at once`);

  const [event] = (await agent.log()).flatMap(({ type, data }) => (type === "context.compacted" ? [data] : []));
  const inFull = (count = 0) => count.toLocaleString("en");
  const told = `Old messages were summed up for the model: ${inFull(event?.before)} → ${inFull(event?.after)} tokens.`;
  await compaction.getByText(told).waitFor();
  await page.getByRole("status").filter({ hasText: told }).waitFor({ state: "attached" });
  const before = await readOrder(page);
  expect(before.slice(-3)).toEqual(["user", "compaction", "assistant"]);
  await compaction.getByText("What it reads instead").click();
  await compaction.getByText("They talked about kumquats.").waitFor();
  await page.screenshot({ path: `${shots}note-compaction-light.png` });
  await page.emulateMedia({ colorScheme: "dark" });
  await page.screenshot({ path: `${shots}note-compaction-dark.png` });

  // The history tells nothing of it; the log does.
  await page.reload();
  await compaction.getByText(told).waitFor();
  expect(await readOrder(page)).toEqual(before);
  await compaction.getByText("What it reads instead").click();
  await compaction.getByText("They talked about kumquats.").waitFor();
  expect(complaints).toEqual([]);
});

test("near its end the meter warns, in words too", async () => {
  const agent = await workshop.newAgent({ model: "local:brief" });
  const { page } = await openAgent(agent.name, phone);
  // As much as fits under where older messages are summed up, and the answer on top of it.
  server.answer(() => ({ text: "Understood.", usage: { input: 3_400, output: 40 } }));
  await say(page, "Hello.");
  const meter = page.getByRole("meter", { name: "Context" });
  await waitUntil("a warning", async () => (await meter.getAttribute("data-tone")) === "warn");
  expect(await meter.getAttribute("aria-valuetext")).toBe(
    "86 % of what brief reads at once: 3,440 of 4,000 tokens. Soon older messages are summed up for it.",
  );
  expect(await page.locator(".context-meter").innerText()).toBe("86 %");
  expect(await hasNoOverflow(page)).toBe(true);
  await page.screenshot({ path: `${shots}meter-phone.png` });
  server.answer(answer);
});

test("a middleware that fails is named where it failed, once a turn, also after a reload", async () => {
  const blueprint = await workshop.newBlueprint({
    tags: ["default", "puppet"],
    config: { puppet: { beforeModel: "throw" } },
  });
  const agent = await workshop.newAgent({ blueprint });
  const { page, complaints } = await openAgent(agent.name, phone);
  await say(page, "Take some steps.");
  await findText(page, "Three steps.").waitFor();
  await findIdleStatus(page).waitFor();
  const failure = page.locator('[data-note="middleware"]');
  await failure
    .getByText("The middleware puppet failed in beforeModel, 3 times in this turn: This hook throws.")
    .waitFor();
  await failure.getByText("the turn went on without it").waitFor();
  const before = await readOrder(page);
  expect(before).toEqual(["user", "middleware", "assistant", "assistant", "assistant"]);
  await page
    .getByRole("status")
    .filter({ hasText: "The middleware puppet failed in beforeModel" })
    .waitFor({ state: "attached" });
  expect(await hasNoOverflow(page)).toBe(true);
  await page.screenshot({ path: `${shots}note-middleware-phone.png` });
  await say(page, "Once more.");
  await waitUntil("a note for the new turn", async () => (await failure.count()) === 2);
  await findIdleStatus(page).waitFor();
  const after = [...before, "user", "middleware", "assistant"];
  expect(await readOrder(page)).toEqual(after);
  await page.reload();
  await waitUntil(
    "the same after a reload",
    async () => JSON.stringify(await readOrder(page)) === JSON.stringify(after),
  );
  // What is cleared is gone, notes and all.
  await workshop.house().client.call("clearMessages", { params: { agency: "global", agent: agent.name } });
  await page.getByText("Nothing has been said yet.").waitFor();
  expect(await failure.count()).toBe(0);
  expect(complaints).toEqual([]);
});

test("a turn that waits for reports says for which, before and after a reload, and goes on when they come", async () => {
  const agent = await workshop.newAgent();
  const { page, complaints } = await openAgent(agent.name);
  await say(page, "Ask and wait.");
  const pause = page.locator('[data-note="pause"]');
  await pause.getByText("The turn waits for the answer of later and later_alone.").waitFor();
  await page.getByText("Waiting for the answer of later, later_alone.").waitFor();
  expect(await page.locator('.call[data-state="waiting"]').count()).toBe(2);
  await say(page, "And then this.");
  await findText(page, "Next in line.").waitFor();
  expect(await readOrder(page)).toEqual(["user", "assistant", "pause", "user"]);
  await page.screenshot({ path: `${shots}note-pause.png` });
  await page.reload();
  await pause.getByText("The turn waits for the answer of later and later_alone.").waitFor();
  expect(await readOrder(page)).toEqual(["user", "assistant", "pause", "user"]);

  const deferred = (await agent.log()).flatMap(({ type, data }) => (type === "tool.deferred" ? [data] : []));
  const report = (toolName: string) =>
    agent.report({
      callId: deferred.find((call) => call.toolName === toolName)?.callId,
      output: `${toolName} says hello.`,
    });
  await report("later");
  await pause.getByText("The turn waits for the answer of later_alone.").waitFor();
  expect(await page.locator('.call[data-state="done"]').count()).toBe(1);
  await report("later_alone");
  await findText(page, "Both have answered.").waitFor();
  await findText(page, "You said: And then this.").waitFor();
  expect(await pause.count()).toBe(0);
  expect(complaints).toEqual([]);
});

test("older messages bring what happened between them", async () => {
  const blueprint = await workshop.newBlueprint({
    tags: ["default", "puppet"],
    config: { puppet: { onModelResult: "throw" } },
  });
  const agent = await workshop.newAgent({ blueprint });
  for (let turn = 0; turn < 40; turn++) await agent.say(`entry ${turn}`);
  const { page } = await openAgent(agent.name);
  const failures = page.locator('[data-note="middleware"]');
  await waitUntil("those of the history", async () => (await failures.count()) === 25);
  await page.getByRole("log").evaluate((log) => log.scrollTo({ top: 0 }));
  await waitUntil("those of all", async () => (await failures.count()) === 40);
  expect((await readOrder(page)).slice(0, 6)).toEqual([
    "user",
    "assistant",
    "middleware",
    "user",
    "assistant",
    "middleware",
  ]);
});

test("a blueprint shows its tags, the models of its roles, and what is probably not meant", async () => {
  await workshop.house().client.call("createAgency", { body: { id: "drafts" } });
  await workshop.house().client.call("putBlueprint", {
    params: { agency: "drafts" },
    body: {
      name: "odd",
      description: "Not quite done.",
      tags: ["default", "wtiness"],
      model: "local:brief",
      models: { fast: "scripted:tour", summarizer: "local:brief" },
    },
  });
  const { page, complaints } = await openAgent((await workshop.newAgent()).name);
  await page.goto(`${workshop.house().url}/app/drafts`);
  const odd = page.locator(".blueprints > li", { hasText: "Not quite done." });
  for (const text of ["#wtiness", "fast scripted:tour", "summarizer local:brief"])
    await odd.locator(".badge", { hasText: text }).waitFor();
  const { warnings } = await workshop
    .house()
    .client.call("getBlueprint", { params: { agency: "drafts", name: "odd" } });
  expect(warnings).toHaveLength(1);
  await odd
    .locator(".notice")
    .getByText(warnings?.[0] ?? "none")
    .waitFor();
  await page.screenshot({ path: `${shots}blueprints.png`, fullPage: true });
  await page.setViewportSize(phone.viewport);
  expect(await hasNoOverflow(page)).toBe(true);
  await page.screenshot({ path: `${shots}blueprints-phone.png`, fullPage: true, animations: "disabled" });
  expect(complaints).toEqual([]);
});
