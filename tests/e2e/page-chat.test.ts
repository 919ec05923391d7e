import { mkdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { createLoginLink, openBrowser, openPage } from "../kit/browser.ts";
import { countingText, ChatUser, findIdleStatus, readLastText, say, findText, readTranscript } from "../kit/chat.ts";
import { type HostProcess, startHostProcess } from "../kit/host-process.ts";
import { waitUntil } from "../kit/wait-until.ts";

const shots = fileURLToPath(new URL("../../test-output/page/", import.meta.url));
let house: HostProcess;
let browser: Browser;
let guest: ChatUser;

beforeAll(async () => {
  mkdirSync(shots, { recursive: true });
  [house, browser] = await Promise.all([startHostProcess(), openBrowser()]);
  guest = new ChatUser(house, browser);
});

afterAll(async () => {
  await browser?.close();
  await house?.stop();
});

test("a newcomer starts the tour with one click and sees an agent at work", async () => {
  const { page, context, complaints } = await openPage(browser, { viewport: { width: 1280, height: 800 } });
  onTestFinished(() => context.close());
  await page.goto(await createLoginLink(house));
  await page.getByRole("button", { name: "Start the tour" }).click();
  await page.getByText("This is a scripted tour.").waitFor();
  await findText(page, "Hello! Show me around.").waitFor();
  await page.getByRole("heading", { name: "A tour of Thinkery" }).waitFor();
  await page.getByText("1 of 3").waitFor();
  await findText(page, "That was the tour.").waitFor();
  await findIdleStatus(page).waitFor();
  await page.getByText("3 of 3").waitFor();
  await page.getByText(/tokens · \$0/).waitFor();
  await guest.expectAllMessages(page, "tour");
  expect(await page.locator('.entry[data-role="user"]').count()).toBe(1);
  const card = page.locator(".call").first();
  expect(await card.getAttribute("data-state")).toBe("done");
  await card.locator("summary").click();
  await card.getByText('"title": "A tour of Thinkery"').waitFor();
  await page.screenshot({ path: `${shots}chat-tour-light.png` });
  await page.emulateMedia({ colorScheme: "dark" });
  await page.screenshot({ path: `${shots}chat-tour-dark.png` });
  expect(complaints).toEqual([]);
  await page.reload();
  await findText(page, "That was the tour.").waitFor();
  await guest.expectAllMessages(page, "tour");
});

test("on a phone everything is in reach and nothing sticks out", async () => {
  const { page, complaints } = await guest.createAndOpenAgent(
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
  await page.screenshot({ path: `${shots}chat-phone-running.png` });
  expect(await page.evaluate(() => document.documentElement.scrollWidth <= document.documentElement.clientWidth)).toBe(
    true,
  );
  expect(await page.evaluate(() => document.documentElement.scrollHeight <= window.innerHeight)).toBe(true);
  await page.getByRole("button", { name: "Cancel" }).click();
  await findIdleStatus(page).waitFor();
  await page.screenshot({ path: `${shots}chat-phone.png` });
  expect(complaints).toEqual([]);
});

test("words are shown while they come, and only finished ones are read out", async () => {
  const { page, complaints } = await guest.createAndOpenAgent("streamer", {
    pace: 20,
    exchanges: [{ steps: [{ reasoning: "They want words." }, { text: countingText }] }],
  });
  await say(page, "Count!");
  const seen: number[] = [];
  await waitUntil("all words", async () => {
    const length = (await readTranscript(page)).at(1)?.words.length ?? 0;
    if (length !== seen.at(-1)) seen.push(length);
    return length === countingText.length;
  });
  expect(seen.length).toBeGreaterThan(5);
  expect(seen).toEqual(seen.toSorted((one, other) => one - other));
  await findIdleStatus(page).waitFor();
  await findText(page, "Thoughts").click();
  await findText(page, "They want words.").waitFor();
  const spoken = page.getByRole("status").filter({ hasText: "streamer: word0" });
  expect((await spoken.textContent())?.endsWith("word149")).toBe(true);
  expect(await page.getByRole("log").getAttribute("aria-live")).toBe("off");
  expect(complaints).toEqual([]);
});

test("a tool that fails says so on its card, and the turn goes on", async () => {
  const { page } = await guest.createAndOpenAgent("clumsy", {
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
  await card.getByText("What went wrong").waitFor();
  await page.locator('.call[data-state="done"]').waitFor();
  await guest.expectAllMessages(page, "clumsy");
});

test("Escape cancels in mid-sentence; what was said stays", async () => {
  const { page } = await guest.createAndOpenAgent("talker", {
    pace: 30,
    exchanges: [{ steps: [{ text: countingText }] }],
  });
  await say(page, "Talk.");
  await waitUntil("some words", async () => (await readLastText(page)).includes("word3"));
  await page.keyboard.press("Escape");
  await findText(page, "Canceled here.").waitFor();
  await findIdleStatus(page).waitFor();
  await guest.expectAllMessages(page, "talker");
  expect(await readLastText(page)).not.toContain("word149");
  await say(page, "Again.");
  await page.getByRole("button", { name: "Cancel" }).click();
  await findIdleStatus(page).waitFor();
  await guest.expectAllMessages(page, "talker");
});

test("while a turn runs a message can wait, be taken back, or take the turn's place", async () => {
  const { page } = await guest.createAndOpenAgent("busy", {
    pace: 25,
    exchanges: [{ when: "now", steps: [{ text: "At once." }] }, { steps: [{ text: countingText }] }],
  });
  await say(page, "First.");
  await waitUntil("some words", async () => (await readLastText(page)).includes("word3"));
  await say(page, "Second.");
  await findText(page, "Next in line.").waitFor();
  await say(page, "Third.");
  await findText(page, "Waits behind one other message.").waitFor();
  await page.locator(".entry", { hasText: "Third." }).getByRole("button", { name: "Take back" }).click();
  await findText(page, "Canceled before its turn came.").waitFor();
  await page.screenshot({ path: `${shots}chat-queue.png` });
  await page.getByLabel("When to send").selectOption("interrupt");
  await say(page, "Do this now.");
  await findText(page, "At once.").waitFor();
  const asked = page.locator('.entry[data-role="user"][data-stage="done"] .words');
  await waitUntil("the second's turn", async () => (await asked.count()) === 3);
  expect(await asked.allInnerTexts()).toEqual(["First.", "Do this now.", "Second."]);
  await page.keyboard.press("Escape");
  await findIdleStatus(page).waitFor();
  await guest.expectAllMessages(page, "busy");
  // What was taken back took nothing from the turn that ran.
  const [first, ...more] = (await guest.readMessages("busy")).filter(
    ({ role, status }) => role === "assistant" && status === "cancelled",
  );
  expect(countingText.startsWith(first?.content ?? "none")).toBe(true);
  expect(new Set(more.map(({ runId }) => runId))).not.toContain(first?.runId);
});

test("after kill -9 in mid-sentence the page shows the truth: nothing lost, nothing twice", async () => {
  const { page } = await guest.createAndOpenAgent("survivor", {
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
  const lost = page.getByText("The connection is lost").waitFor();
  await guest.killMain();
  await lost;
  await page.getByLabel("Message to").press("Enter");
  await waitUntil(
    "both answers",
    async () =>
      (await guest.readMessages("survivor")).filter(
        ({ role, content }) => role === "assistant" && content === countingText,
      ).length === 2,
  );
  await findIdleStatus(page).waitFor();
  await guest.expectAllMessages(page, "survivor");
  expect(
    (await guest.readMessages("survivor")).filter(({ role }) => role === "user").map(({ content }) => content),
  ).toEqual(["Go on whatever happens.", "Said while you were away."]);
});

test("a failing model is told of with the reason, while it is tried again and at the end", async () => {
  const { page } = await guest.createAndOpenAgent("failing", {
    exchanges: [
      { when: "retry", steps: [{ fail: { status: 503, times: 1, retryAfter: 1 } }, { text: "Better now." }] },
      { steps: [{ fail: { status: 401 } }] },
    ],
  });
  await say(page, "retry");
  await page.getByText(/Trying again .*attempt 2/).waitFor();
  await findText(page, "Better now.").waitFor();
  await say(page, "Hello?");
  await findText(page, "This turn failed.").waitFor();
  await page.screenshot({ path: `${shots}chat-failed.png` });
  await findIdleStatus(page).waitFor();
  await guest.expectAllMessages(page, "failing");
});

test("a message too long to be sent is not lost and does not harm", async () => {
  const { page } = await guest.createAndOpenAgent("patient", { exchanges: [{ steps: [{ text: "Short is good." }] }] });
  const long = "x".repeat(1_000_001);
  await say(page, long);
  await page.getByText("This is too long to be sent").waitFor();
  expect((await page.getByLabel("Message to").inputValue()).length).toBe(long.length);
  await say(page, "Short.");
  await findText(page, "Short is good.").waitFor();
  expect(await page.getByText("This is too long to be sent").count()).toBe(0);
  await guest.expectAllMessages(page, "patient");
});

test("two tabs show the same, and what is being written stays in its tab's place over a reload", async () => {
  const one = await guest.createAndOpenAgent("shared", { pace: 15, exchanges: [{ steps: [{ text: countingText }] }] });
  const two = await guest.openAgent("shared");
  await say(one.page, "Hello from one.");
  await two.page.getByText("Hello from one.").waitFor();
  await waitUntil("some words", async () => (await readLastText(two.page)).includes("word3"));
  const three = await guest.openAgent("shared");
  await waitUntil(
    "the end in both",
    async () => (await readLastText(one.page)) === countingText && (await readLastText(two.page)) === countingText,
  );
  for (const { page } of [one, two, three]) await guest.expectAllMessages(page, "shared");
  await two.page.getByLabel("Message to").fill("half a thou");
  await two.page.reload();
  expect(await two.page.getByLabel("Message to").inputValue()).toBe("half a thou");
});

test("older messages come when a reader scrolls up, and the page stays where it is read", async () => {
  const { page } = await guest.createAndOpenAgent("chronicler", {
    exchanges: [{ steps: [{ text: "Noted: {{ message }}" }] }],
  });
  for (let index = 0; index < 40; index++) {
    await house.client.call("serve", { body: { agent: "chronicler", message: `entry ${index}` } });
  }
  await page.reload();
  await findText(page, "Noted: entry 39").waitFor();
  expect(await page.locator(".entry").count()).toBe(50);
  const log = page.getByRole("log");
  await log.evaluate((element) => element.scrollTo({ top: 0 }));
  await findText(page, "Noted: entry 0", true).waitFor({ state: "attached" });
  expect(await page.locator(".entry").count()).toBe(80);
  await guest.expectAllMessages(page, "chronicler");
  // The reader is not thrown about: what was at the top is still in sight, and news does not pull them down.
  const at = await log.evaluate((element) => element.scrollTop);
  expect(at).toBeGreaterThan(0);
  await house.client.call("serve", { body: { agent: "chronicler", message: "news" } });
  await findText(page, "Noted: news").waitFor({ state: "attached" });
  expect(await log.evaluate((element) => element.scrollTop)).toBe(at);
  await page.getByRole("button", { name: "Latest" }).click();
  await waitUntil("the end", () =>
    log.evaluate((element) => element.scrollHeight - element.scrollTop - element.clientHeight < 5),
  );
});

test("hostile words of a model, a person and a tool are shown and do nothing", async () => {
  const evil =
    '<img src=x onerror="window.hacked=1"> [click](javascript:window.hacked=1) <script>window.hacked=1</script> \u001b[31mred\u001b[0m \u202Egnirts';
  const { page, complaints } = await guest.createAndOpenAgent("mallory", {
    exchanges: [
      {
        steps: [
          { reasoning: evil },
          { text: `${evil}\n\n\`\`\`html\n${evil}\n\`\`\`` },
          { call: { tool: "write_todos", input: { todos: [{ content: evil, status: "pending" }] } } },
          { call: { tool: "set_title", input: { title: evil.slice(0, 60) } } },
          { call: { tool: evil, input: { [evil]: evil } } },
          { text: "End." },
        ],
      },
    ],
  });
  await say(page, evil);
  await findText(page, "End.").waitFor();
  for (const summary of await page.locator(".chat details > summary").all()) await summary.click();
  await page.getByText("<img src=x").first().waitFor();
  await page.getByText("\u241b[31mred").first().waitFor();
  expect(await page.locator("main img, main script, .transcript a").count()).toBe(0);
  expect(await page.evaluate("window.hacked")).toBeUndefined();
  expect(complaints).toEqual([]);
  await page.screenshot({ path: `${shots}chat-hostile.png` });
});
