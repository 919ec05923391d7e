import { mkdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { createLoginLink, openBrowser, openPage } from "../kit/browser.ts";
import { findIdleStatus, say, findText } from "../kit/chat.ts";
import { type Answer, type ModelServer, openModelServer, type RecordedRequest } from "../kit/model-server.ts";
import { waitUntil } from "../kit/wait-until.ts";
import { openTestbed, type Testbed } from "../kit/worker/testbed.ts";

// Notes between the messages of a conversation (compactions, middleware failures, pauses), live and after a reload.

const screenshots = fileURLToPath(new URL("../../test-output/page/", import.meta.url));
const phone = { viewport: { width: 390, height: 780 }, hasTouch: true };
const limit = 4_000;
let server: ModelServer;
let testbed: Testbed;
let browser: Browser;

beforeAll(async () => {
  mkdirSync(screenshots, { recursive: true });
  server = await openModelServer({ models: ["brief"] });
  server.setLimit("brief", limit);
  server.answer(respond);
  const call = (tool: string, input: object = {}) => ({ call: { tool, input } });
  [testbed, browser] = await Promise.all([
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
  await testbed?.stop();
  await server?.stop();
});

function respond({ raw }: RecordedRequest): Answer {
  return raw.includes("You summarize the older part of a conversation")
    ? { text: "They talked about kumquats.\n\n- They are `small`." }
    : { text: "Understood." };
}

async function openAgent(agent: string, options: Parameters<typeof openPage>[1] = {}) {
  const opened = await openPage(browser, { viewport: { width: 1280, height: 800 }, ...options });
  onTestFinished(() => opened.context.close());
  await opened.page.goto(await createLoginLink(testbed.host()));
  await opened.page.getByRole("heading", { name: "Welcome" }).waitFor();
  await opened.page.goto(`${testbed.host().url}/app/global/${agent}`);
  // Connected: from now on, events arrive live.
  await findIdleStatus(opened.page).waitFor();
  return opened;
}

/** The transcript as the role of each message and the kind of each note. */
const readOrder = (page: Page) =>
  page
    .locator(".transcript-content > *")
    .evaluateAll((elements) =>
      elements.map(
        (element) =>
          (element as HTMLElement).dataset.role ?? (element as HTMLElement).dataset.note ?? element.className,
      ),
    );

const hasNoOverflow = (page: Page) =>
  page.evaluate(() => document.documentElement.scrollWidth <= document.documentElement.clientWidth);

const filler = "All work and no play makes a conversation long, and longer with every word that is said in it. ";

test("the context meter follows the conversation, and a compaction is noted where it happened", async () => {
  const agent = await testbed.newAgent({ model: "local:brief" });
  const { page, pageErrors } = await openAgent(agent.name);
  const meter = page.getByRole("meter", { name: "Context" });
  expect(await meter.count()).toBe(0);
  await say(page, "Hello.");
  await findText(page, "Understood.").waitFor();
  await findIdleStatus(page).waitFor();
  const readLevel = async () => Number(await meter.getAttribute("aria-valuenow"));
  const first = await readLevel();
  expect(first).toBeGreaterThan(0);
  expect(await meter.getAttribute("aria-valuetext")).toMatch(/^\d+%: [\d,]+ of 4,000 tokens \(brief\)\.$/);
  const readMeterText = () => page.locator(".context-meter").innerText();
  await page.reload();
  await waitUntil("the same after a reload", async () => (await readLevel()) === first);

  const levels: number[] = [];
  const compaction = page.locator('[data-note="compaction"]');
  let turns = 0;
  while ((await compaction.count()) === 0) {
    expect(++turns).toBeLessThan(20);
    await say(page, `Turn ${turns}. ${filler.repeat(12)}`);
    await waitUntil("the response", async () => (await findText(page, "Understood.").count()) === turns + 1);
    await findIdleStatus(page).waitFor();
    levels.push(await readLevel());
  }
  const highest = Math.max(...levels);
  expect(highest).toBeGreaterThan(first + 30);
  expect(levels.at(-1)).toBeLessThan(highest);
  expect(await readMeterText()).toBe(`Context ${levels.at(-1)}%`);

  const [event] = (await agent.log()).flatMap(({ type, data }) => (type === "context.compacted" ? [data] : []));
  const formatCount = (count = 0) => count.toLocaleString("en");
  const note = `Older messages summarized for the model: ${formatCount(event?.before)} → ${formatCount(event?.after)} tokens`;
  await compaction.getByText(note).waitFor();
  await page.getByRole("status").filter({ hasText: note }).waitFor({ state: "attached" });
  const before = await readOrder(page);
  expect(before.slice(-3)).toEqual(["user", "compaction", "assistant"]);
  await compaction.getByText("Summary", { exact: true }).click();
  await compaction.getByText("They talked about kumquats.").waitFor();
  await page.screenshot({ path: `${screenshots}note-compaction-light.png` });
  await page.emulateMedia({ colorScheme: "dark" });
  await page.screenshot({ path: `${screenshots}note-compaction-dark.png` });

  // The message history does not include it; the log does.
  await page.reload();
  await compaction.getByText(note).waitFor();
  expect(await readOrder(page)).toEqual(before);
  await compaction.getByText("Summary", { exact: true }).click();
  await compaction.getByText("They talked about kumquats.").waitFor();
  expect(pageErrors).toEqual([]);
});

test("the meter warns when the context is almost full, also in text", async () => {
  const agent = await testbed.newAgent({ model: "local:brief" });
  const { page } = await openAgent(agent.name, phone);
  // Just below the threshold of compaction; the response comes on top of it.
  server.answer(() => ({ text: "Understood.", usage: { input: 3_400, output: 40 } }));
  await say(page, "Hello.");
  const meter = page.getByRole("meter", { name: "Context" });
  await waitUntil("a warning", async () => (await meter.getAttribute("data-tone")) === "warn");
  expect(await meter.getAttribute("aria-valuetext")).toBe(
    "86%: 3,440 of 4,000 tokens (brief). Older messages will be summarized soon.",
  );
  expect(await page.locator(".context-meter").innerText()).toBe("86%");
  expect(await hasNoOverflow(page)).toBe(true);
  await page.screenshot({ path: `${screenshots}meter-phone.png` });
  server.answer(respond);
});

test("a middleware failure is noted where it happened, once per turn, also after a reload", async () => {
  const blueprint = await testbed.newBlueprint({
    tags: ["default", "puppet"],
    config: { puppet: { beforeModel: "throw" } },
  });
  const agent = await testbed.newAgent({ blueprint });
  const { page, pageErrors } = await openAgent(agent.name, phone);
  await say(page, "Take some steps.");
  await findText(page, "Three steps.").waitFor();
  await findIdleStatus(page).waitFor();
  const failure = page.locator('[data-note="middleware"]');
  await failure
    .getByText("Middleware puppet failed in beforeModel (3 times in this turn): This hook throws.")
    .waitFor();
  await failure.getByText("the turn continued without it").waitFor();
  const before = await readOrder(page);
  expect(before).toEqual(["user", "middleware", "assistant", "assistant", "assistant"]);
  await page
    .getByRole("status")
    .filter({ hasText: "Middleware puppet failed in beforeModel" })
    .waitFor({ state: "attached" });
  expect(await hasNoOverflow(page)).toBe(true);
  await page.screenshot({ path: `${screenshots}note-middleware-phone.png` });
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
  // Clearing the messages removes the notes, too.
  await testbed.host().client.call("clearMessages", { params: { agency: "global", agent: agent.name } });
  await page.getByText("No messages yet.").waitFor();
  expect(await failure.count()).toBe(0);
  expect(pageErrors).toEqual([]);
});

test("a turn that waits for tool results names the tools, also after a reload, and continues when the results arrive", async () => {
  const agent = await testbed.newAgent();
  const { page, pageErrors } = await openAgent(agent.name);
  await say(page, "Ask and wait.");
  const pause = page.locator('[data-note="pause"]');
  await pause.getByText("Turn paused, waiting for the result of later and later_alone.").waitFor();
  await page.getByText("Waiting for later, later_alone").waitFor();
  expect(await page.locator('.call[data-state="waiting"]').count()).toBe(2);
  await say(page, "And then this.");
  await findText(page, "Next in queue").waitFor();
  expect(await readOrder(page)).toEqual(["user", "assistant", "pause", "user"]);
  await page.screenshot({ path: `${screenshots}note-pause.png` });
  await page.reload();
  await pause.getByText("Turn paused, waiting for the result of later and later_alone.").waitFor();
  expect(await readOrder(page)).toEqual(["user", "assistant", "pause", "user"]);

  const deferred = (await agent.log()).flatMap(({ type, data }) => (type === "tool.deferred" ? [data] : []));
  const reportResult = (toolName: string) =>
    agent.report({
      callId: deferred.find((call) => call.toolName === toolName)?.callId,
      output: `${toolName} says hello.`,
    });
  await reportResult("later");
  await pause.getByText("Turn paused, waiting for the result of later_alone.").waitFor();
  expect(await page.locator('.call[data-state="done"]').count()).toBe(1);
  await reportResult("later_alone");
  await findText(page, "Both have answered.").waitFor();
  await findText(page, "You said: And then this.").waitFor();
  expect(await pause.count()).toBe(0);
  expect(pageErrors).toEqual([]);
});

test("older messages load with the notes between them", async () => {
  const blueprint = await testbed.newBlueprint({
    tags: ["default", "puppet"],
    config: { puppet: { onModelResult: "throw" } },
  });
  const agent = await testbed.newAgent({ blueprint });
  for (let turn = 0; turn < 40; turn++) await agent.say(`entry ${turn}`);
  const { page } = await openAgent(agent.name);
  const failures = page.locator('[data-note="middleware"]');
  await waitUntil("the notes of the first page", async () => (await failures.count()) === 25);
  await page.getByRole("log").evaluate((log) => log.scrollTo({ top: 0 }));
  await waitUntil("all notes", async () => (await failures.count()) === 40);
  expect((await readOrder(page)).slice(0, 6)).toEqual([
    "user",
    "assistant",
    "middleware",
    "user",
    "assistant",
    "middleware",
  ]);
});

test("a blueprint shows its tags, the models of its roles and its warnings", async () => {
  await testbed.host().client.call("createAgency", { body: { id: "drafts" } });
  await testbed.host().client.call("putBlueprint", {
    params: { agency: "drafts" },
    body: {
      name: "odd",
      description: "Not quite done.",
      tags: ["default", "wtiness"],
      model: "local:brief",
      models: { fast: "scripted:tour", summarizer: "local:brief" },
    },
  });
  const { page, pageErrors } = await openAgent((await testbed.newAgent()).name);
  await page.goto(`${testbed.host().url}/app/drafts`);
  const odd = page.locator(".blueprints > li", { hasText: "Not quite done." });
  for (const text of ["#wtiness", "fast scripted:tour", "summarizer local:brief"])
    await odd.locator(".badge", { hasText: text }).waitFor();
  const { warnings } = await testbed.host().client.call("getBlueprint", { params: { agency: "drafts", name: "odd" } });
  expect(warnings).toHaveLength(1);
  await odd
    .locator(".notice")
    .getByText(warnings?.[0] ?? "none")
    .waitFor();
  await page.screenshot({ path: `${screenshots}blueprints.png`, fullPage: true });
  await page.setViewportSize(phone.viewport);
  expect(await hasNoOverflow(page)).toBe(true);
  await page.screenshot({ path: `${screenshots}blueprints-phone.png`, fullPage: true, animations: "disabled" });
  expect(pageErrors).toEqual([]);
});
