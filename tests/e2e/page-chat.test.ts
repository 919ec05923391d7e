import { mkdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { createLoginLink, openBrowser, openPage } from "../kit/browser.ts";
import { countingText, ChatUser, findIdleStatus, readLastText, say, findText, readTranscript } from "../kit/chat.ts";
import { type HostProcess, startHostProcess } from "../kit/host-process.ts";
import { waitUntil } from "../kit/wait-until.ts";

const screenshots = fileURLToPath(new URL("../../test-output/page/", import.meta.url));
let host: HostProcess;
let browser: Browser;
let user: ChatUser;

beforeAll(async () => {
  mkdirSync(screenshots, { recursive: true });
  [host, browser] = await Promise.all([startHostProcess(), openBrowser()]);
  user = new ChatUser(host, browser);
});

afterAll(async () => {
  await browser?.close();
  await host?.stop();
});

test("a new user starts the tour with one click and sees an agent at work", async () => {
  const { page, context, pageErrors } = await openPage(browser, { viewport: { width: 1280, height: 800 } });
  onTestFinished(() => context.close());
  await page.goto(await createLoginLink(host));
  await page.getByRole("button", { name: "Start tour" }).click();
  await page.getByText("This is a scripted tour.").waitFor();
  await findText(page, "Hello! Show me around.").waitFor();
  await page.getByRole("heading", { name: "A tour of Thinkery" }).waitFor();
  await page.getByText("1 of 3").waitFor();
  await findText(page, "That was the tour.").waitFor();
  await findIdleStatus(page).waitFor();
  await page.getByText("3 of 3").waitFor();
  await page.getByText(/tokens · \$0/).waitFor();
  await user.expectAllMessages(page, "tour");
  expect(await page.locator('.entry[data-role="user"]').count()).toBe(1);
  const card = page.locator(".call").first();
  expect(await card.getAttribute("data-state")).toBe("done");
  await card.locator("summary").click();
  await card.getByText('"title": "A tour of Thinkery"').waitFor();
  await page.screenshot({ path: `${screenshots}chat-tour-light.png` });
  await page.emulateMedia({ colorScheme: "dark" });
  await page.screenshot({ path: `${screenshots}chat-tour-dark.png` });
  expect(pageErrors).toEqual([]);
  await page.reload();
  await findText(page, "That was the tour.").waitFor();
  await user.expectAllMessages(page, "tour");
});

test("an agent is stopped and started on the page, and accepts nothing in between", async () => {
  const { page, pageErrors } = await user.createAndOpenAgent("resting", {
    exchanges: [{ steps: [{ text: "Here." }] }],
  });
  await page.getByText("About").click();
  await page.getByRole("button", { name: "Stop agent" }).click();
  await page.locator('.status-line[data-status="stopped"]').waitFor();
  await page.getByLabel("Message to resting").fill("Are you there?");
  expect(await page.getByRole("button", { name: "Send" }).isDisabled()).toBe(true);
  await page.screenshot({ path: `${screenshots}chat-stopped.png` });
  await page.reload();
  await page.locator(".composer").getByRole("button", { name: "Start agent" }).click();
  await findIdleStatus(page).waitFor();
  await page.getByRole("button", { name: "Send" }).click();
  await findText(page, "Here.").waitFor();
  expect(pageErrors).toEqual([]);
});

test("on a phone everything is reachable and nothing overflows", async () => {
  const { page, pageErrors } = await user.createAndOpenAgent(
    "pocket",
    {
      pace: 10,
      exchanges: [
        {
          steps: [
            { text: `Here is \`code\`:\n\n\`\`\`\n${"long ".repeat(60)}\n\`\`\`` },
            { call: { tool: "write_todos", input: { todos: [{ content: "Fit on a phone", status: "in_progress" }] } } },
            { text: countingText },
          ],
        },
      ],
    },
    { viewport: { width: 390, height: 780 }, hasTouch: true, colorScheme: "dark" },
  );
  await say(page, "Hello from a rather small screen, where a message may well take more than one line.");
  await page.getByText("0 of 1").waitFor();
  await page.getByRole("button", { name: "Cancel" }).waitFor();
  await page.screenshot({ path: `${screenshots}chat-phone-running.png` });
  expect(await page.evaluate(() => document.documentElement.scrollWidth <= document.documentElement.clientWidth)).toBe(
    true,
  );
  expect(await page.evaluate(() => document.documentElement.scrollHeight <= window.innerHeight)).toBe(true);
  await page.getByRole("button", { name: "Cancel" }).click();
  await findIdleStatus(page).waitFor();
  await page.screenshot({ path: `${screenshots}chat-phone.png` });
  expect(pageErrors).toEqual([]);
});

test("text is shown while it streams, and only complete messages are announced", async () => {
  const { page, pageErrors } = await user.createAndOpenAgent("streamer", {
    pace: 20,
    exchanges: [{ steps: [{ reasoning: "They want words." }, { text: countingText }] }],
  });
  await say(page, "Count!");
  const lengths: number[] = [];
  await waitUntil("all words", async () => {
    const length = (await readTranscript(page)).at(1)?.words.length ?? 0;
    if (length !== lengths.at(-1)) lengths.push(length);
    return length === countingText.length;
  });
  expect(lengths.length).toBeGreaterThan(5);
  expect(lengths).toEqual(lengths.toSorted((a, b) => a - b));
  await findIdleStatus(page).waitFor();
  await findText(page, "Thoughts").click();
  await findText(page, "They want words.").waitFor();
  const announcement = page.getByRole("status").filter({ hasText: "streamer: word0" });
  expect((await announcement.textContent())?.endsWith("word149")).toBe(true);
  expect(await page.getByRole("log").getAttribute("aria-live")).toBe("off");
  expect(pageErrors).toEqual([]);
});

test("a failed tool call is marked on its card, and the turn continues", async () => {
  const { page } = await user.createAndOpenAgent("clumsy", {
    exchanges: [
      {
        steps: [
          {
            calls: [
              { tool: "no_such_tool", input: { a: 1 } },
              { tool: "set_title", input: { title: "Clumsy" } },
            ],
          },
          { text: "Done anyway." },
        ],
      },
    ],
  });
  await say(page, "Try.");
  await findText(page, "Done anyway.").waitFor();
  const card = page.locator('.call[data-state="failed"]');
  await card.locator("summary").click();
  await card.getByText("Error", { exact: true }).waitFor();
  await page.locator('.call[data-state="done"]').waitFor();
  await user.expectAllMessages(page, "clumsy");
});

test("Escape cancels a streaming response, and the text so far stays", async () => {
  const { page } = await user.createAndOpenAgent("talker", {
    pace: 30,
    exchanges: [{ steps: [{ text: countingText }] }],
  });
  await say(page, "Talk.");
  await waitUntil("some words", async () => (await readLastText(page)).includes("word3"));
  await page.keyboard.press("Escape");
  await findText(page, "Canceled", true).waitFor();
  await findIdleStatus(page).waitFor();
  await user.expectAllMessages(page, "talker");
  expect(await readLastText(page)).not.toContain("word149");
  await say(page, "Again.");
  await page.getByRole("button", { name: "Cancel" }).click();
  await findIdleStatus(page).waitFor();
  await user.expectAllMessages(page, "talker");
});

test("while a turn runs, a message can be queued, removed from the queue, or interrupt the turn", async () => {
  const { page } = await user.createAndOpenAgent("busy", {
    pace: 25,
    exchanges: [{ when: "now", steps: [{ text: "At once." }] }, { steps: [{ text: countingText }] }],
  });
  await say(page, "First.");
  await waitUntil("some words", async () => (await readLastText(page)).includes("word3"));
  await say(page, "Second.");
  await findText(page, "Next in queue").waitFor();
  await say(page, "Third.");
  await findText(page, "Queued behind 1 message").waitFor();
  await page.locator(".entry", { hasText: "Third." }).getByRole("button", { name: "Remove" }).click();
  await findText(page, "Canceled before it started").waitFor();
  await page.screenshot({ path: `${screenshots}chat-queue.png` });
  await page.getByLabel("When to send").selectOption("interrupt");
  await say(page, "Do this now.");
  await findText(page, "At once.").waitFor();
  const userTexts = page.locator('.entry[data-role="user"][data-stage="done"] .formatted-text');
  await waitUntil("the second message's turn", async () => (await userTexts.count()) === 3);
  expect(await userTexts.allInnerTexts()).toEqual(["First.", "Do this now.", "Second."]);
  await page.keyboard.press("Escape");
  await findIdleStatus(page).waitFor();
  await user.expectAllMessages(page, "busy");
  // Removing a queued message did not affect the running turn.
  const [first, ...more] = (await user.readMessages("busy")).filter(
    ({ role, status }) => role === "assistant" && status === "cancelled",
  );
  expect(countingText.startsWith(first?.content ?? "none")).toBe(true);
  expect(new Set(more.map(({ runId }) => runId))).not.toContain(first?.runId);
});

test("after kill -9 of a streaming turn the page shows every message exactly once", async () => {
  const { page } = await user.createAndOpenAgent("survivor", {
    pace: 20,
    exchanges: [
      {
        steps: [
          { text: "Let me write that down. " },
          { call: { tool: "set_title", input: { title: "Survived" } } },
          { text: countingText },
        ],
      },
    ],
  });
  await say(page, "Go on whatever happens.");
  await waitUntil("some words", async () => (await readLastText(page)).includes("word9"));
  await page.getByLabel("Message to").fill("Said while you were away.");
  const lost = page.getByText("Connection lost").waitFor();
  await user.killMain();
  await lost;
  await page.getByLabel("Message to").press("Enter");
  await waitUntil(
    "both responses",
    async () =>
      (await user.readMessages("survivor")).filter(
        ({ role, content }) => role === "assistant" && content === countingText,
      ).length === 2,
  );
  await findIdleStatus(page).waitFor();
  await user.expectAllMessages(page, "survivor");
  expect(
    (await user.readMessages("survivor")).filter(({ role }) => role === "user").map(({ content }) => content),
  ).toEqual(["Go on whatever happens.", "Said while you were away."]);
});

test("a model error is shown with its reason while it is retried and when the turn fails", async () => {
  const { page } = await user.createAndOpenAgent("failing", {
    exchanges: [
      { when: "retry", steps: [{ fail: { status: 503, times: 1, retryAfter: 1 } }, { text: "Better now." }] },
      { steps: [{ fail: { status: 401 } }] },
    ],
  });
  await say(page, "retry");
  await page.getByText(/Retrying .*attempt 2/).waitFor();
  await findText(page, "Better now.").waitFor();
  await say(page, "Hello?");
  await findText(page, "Turn failed.").waitFor();
  await page.screenshot({ path: `${screenshots}chat-failed.png` });
  await findIdleStatus(page).waitFor();
  await user.expectAllMessages(page, "failing");
});

test("a message that is too long stays in the input, and the next one can be sent", async () => {
  const { page } = await user.createAndOpenAgent("patient", { exchanges: [{ steps: [{ text: "Short is good." }] }] });
  const long = "x".repeat(1_000_001);
  await say(page, long);
  await page.getByText("This message is too long").waitFor();
  expect((await page.getByLabel("Message to").inputValue()).length).toBe(long.length);
  await say(page, "Short.");
  await findText(page, "Short is good.").waitFor();
  expect(await page.getByText("This message is too long").count()).toBe(0);
  await user.expectAllMessages(page, "patient");
});

test("two tabs show the same messages, and a draft survives a reload of its tab", async () => {
  const first = await user.createAndOpenAgent("shared", { pace: 15, exchanges: [{ steps: [{ text: countingText }] }] });
  const second = await user.openAgent("shared");
  await say(first.page, "Hello from one.");
  await second.page.getByText("Hello from one.").waitFor();
  await waitUntil("some words", async () => (await readLastText(second.page)).includes("word3"));
  const third = await user.openAgent("shared");
  await waitUntil(
    "the whole text in both",
    async () => (await readLastText(first.page)) === countingText && (await readLastText(second.page)) === countingText,
  );
  for (const { page } of [first, second, third]) await user.expectAllMessages(page, "shared");
  await second.page.getByLabel("Message to").fill("half a thou");
  await second.page.reload();
  expect(await second.page.getByLabel("Message to").inputValue()).toBe("half a thou");
});

test("older messages load on scrolling up, and the scroll position stays", async () => {
  const { page } = await user.createAndOpenAgent("chronicler", {
    exchanges: [{ steps: [{ text: "Noted: {{ message }}" }] }],
  });
  for (let index = 0; index < 40; index++) {
    await host.client.call("serve", { body: { agent: "chronicler", message: `entry ${index}` } });
  }
  await page.reload();
  await findText(page, "Noted: entry 39").waitFor();
  expect(await page.locator(".entry").count()).toBe(50);
  const log = page.getByRole("log");
  await log.evaluate((element) => element.scrollTo({ top: 0 }));
  await findText(page, "Noted: entry 0", true).waitFor({ state: "attached" });
  expect(await page.locator(".entry").count()).toBe(80);
  await user.expectAllMessages(page, "chronicler");
  // The scroll position is kept when older messages are inserted and when a new one arrives.
  const at = await log.evaluate((element) => element.scrollTop);
  expect(at).toBeGreaterThan(0);
  await host.client.call("serve", { body: { agent: "chronicler", message: "news" } });
  await findText(page, "Noted: news").waitFor({ state: "attached" });
  expect(await log.evaluate((element) => element.scrollTop)).toBe(at);
  await page.getByRole("button", { name: "Latest" }).click();
  await waitUntil("the end", () =>
    log.evaluate((element) => element.scrollHeight - element.scrollTop - element.clientHeight < 5),
  );
});

test("hostile text of a model, a user and a tool is shown and not executed", async () => {
  const hostile =
    '<img src=x onerror="window.hacked=1"> [click](javascript:window.hacked=1) <script>window.hacked=1</script> \u001b[31mred\u001b[0m \u202Egnirts';
  const { page, pageErrors } = await user.createAndOpenAgent("mallory", {
    exchanges: [
      {
        steps: [
          { reasoning: hostile },
          { text: `${hostile}\n\n\`\`\`html\n${hostile}\n\`\`\`` },
          { call: { tool: "write_todos", input: { todos: [{ content: hostile, status: "pending" }] } } },
          { call: { tool: "set_title", input: { title: hostile.slice(0, 60) } } },
          { call: { tool: hostile, input: { [hostile]: hostile } } },
          { text: "End." },
        ],
      },
    ],
  });
  await say(page, hostile);
  await findText(page, "End.").waitFor();
  for (const summary of await page.locator(".chat details > summary").all()) await summary.click();
  await page.getByText("<img src=x").first().waitFor();
  await page.getByText("\u241b[31mred").first().waitFor();
  expect(await page.locator("main img, main script, .transcript a").count()).toBe(0);
  expect(await page.evaluate("window.hacked")).toBeUndefined();
  expect(pageErrors).toEqual([]);
  await page.screenshot({ path: `${screenshots}chat-hostile.png` });
});
