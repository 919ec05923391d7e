import { mkdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Schedule, ScheduleRun } from "@thinkery/sdk";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { openBrowser, openPage } from "../kit/browser.ts";
import { findText } from "../kit/chat.ts";
import { waitUntil } from "../kit/wait-until.ts";
import { openTestbed, type Testbed } from "../kit/worker/testbed.ts";

// The schedules of an agent on the page: adding one with its next times, pausing, running, its history, deleting.

const screenshots = fileURLToPath(new URL("../../test-output/page/", import.meta.url));
const phone = { viewport: { width: 390, height: 780 }, hasTouch: true, isMobile: true };
let testbed: Testbed;
let browser: Browser;

beforeAll(async () => {
  mkdirSync(screenshots, { recursive: true });
  [testbed, browser] = await Promise.all([
    openTestbed({ scripts: { default: [{ steps: [{ text: "You said: {{ message }}" }] }] } }),
    openBrowser(),
  ]);
}, 60_000);

afterAll(async () => {
  await browser?.close();
  await testbed?.stop();
});

async function openAddress(path: string, options: Parameters<typeof openPage>[1] = {}, scopes?: "read"[]) {
  const opened = await openPage(browser, {
    viewport: { width: 1280, height: 900 },
    timezoneId: "Europe/Berlin",
    ...options,
  });
  onTestFinished(() => opened.context.close());
  const { url, client } = testbed.host();
  const { code } = await client.call("createLoginCode", scopes ? { body: { scopes } } : {});
  await opened.page.goto(`${url}/#code=${code}`);
  await opened.page.getByRole("heading", { name: "Welcome" }).waitFor();
  await opened.page.goto(url + path);
  return opened;
}

const findSchedule = (page: Page, title: string) =>
  page.locator(".schedule", { has: page.getByRole("heading", { name: title }) });
const shoot = (page: Page, name: string) => page.screenshot({ path: `${screenshots}schedules-${name}.png` });

test("a person adds a schedule and sees its next times while doing so, runs it, and finds its messages", async () => {
  const { name, at } = await testbed.newAgent({ name: "alice", model: "scripted:default" });
  const { page, pageErrors } = await openAddress(`/app/global/${name}`);
  await page.getByRole("link", { name: "Schedules" }).click();
  await page.getByText("No schedules yet").waitFor();
  await shoot(page, "empty");
  await page.getByRole("button", { name: "New schedule" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByText("Next times, at 09:00, Monday to Friday").waitFor();
  await waitUntil("five times", async () => (await dialog.locator(".next-times li").count()) === 5);
  const expression = dialog.getByLabel("Expression");
  await expression.fill("61 * * * *");
  await dialog.locator(".next-times .field-error").waitFor();
  await shoot(page, "nonsense");
  await expression.fill("30 7 * * *");
  await dialog.getByLabel("Time zone").fill("America/New_York");
  await dialog.locator(".next-times li", { hasText: /7:30/ }).first().waitFor();
  await dialog.getByRole("button", { name: "Add schedule" }).click();
  // The message is still missing.
  await dialog.locator(".field-error").waitFor();
  await dialog.getByLabel("Message").fill("What is <b>new</b>?");
  await dialog.getByLabel("Name").fill("Morning");
  await shoot(page, "form");
  await dialog.getByRole("button", { name: "Add schedule" }).click();
  const morning = findSchedule(page, "Morning");
  await morning.getByText("every day at 07:30").waitFor();
  await morning.getByText(/^Next .*7:30.* \(America\/New_York\) in /).waitFor();
  const { body } = await testbed.api(`${at}/schedules`);
  expect(body.schedules).toMatchObject([{ when: "30 7 * * *", timeZone: "America/New_York", missed: "once" }]);

  await morning.getByRole("button", { name: "Pause" }).click();
  await morning.getByText("Does not run while it is paused.").waitFor();
  // It runs by request nevertheless.
  await morning.getByRole("button", { name: "Run now" }).click();
  await morning.locator("summary", { hasText: "History" }).click();
  await morning.locator(".runs li", { hasText: "completed, by request" }).waitFor();
  await morning.locator("summary", { hasText: "Details" }).click();
  await morning.getByText("What is <b>new</b>?").waitFor();
  await shoot(page, "list");
  await morning.getByRole("link", { name: "Message" }).click();
  await page.waitForURL(/\/app\/global\/alice\?turn=/);
  await findText(page, "You said: What is <b>new</b>?").waitFor();
  await page.locator(".entry:focus", { hasText: "What is <b>new</b>?" }).waitFor();

  await page.goBack();
  await morning.getByRole("button", { name: "Resume" }).click();
  await morning.getByText(/^Next /).waitFor();
  await morning.getByRole("button", { name: "Delete" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete schedule" }).click();
  await page.getByText("No schedules yet").waitFor();
  expect(pageErrors).toEqual([]);
}, 60_000);

test("times that were missed are marked, and a read-only login only looks", async () => {
  const { name, at } = await testbed.newAgent({ name: "bob", model: "scripted:default" });
  const { body } = await testbed.api(`${at}/schedules`, "POST", { when: { every: 1 }, input: "Tick", missed: "skip" });
  const { id } = body as Schedule;
  await testbed.stopHost();
  await new Promise((resolve) => setTimeout(resolve, 3000));
  await testbed.startHost();
  await waitUntil("missed times", async () => {
    const { body } = await testbed.api(`${at}/schedules/${id}/runs`);
    return (body.runs as ScheduleRun[] | undefined)?.some(({ status }) => status === "missed");
  });
  await testbed.api(`${at}/schedules/${id}`, "PATCH", { paused: true });
  const { page, pageErrors } = await openAddress(`/app/global/${name}/schedules`, phone, ["read"]);
  const tick = findSchedule(page, "Tick");
  await tick.getByText("every 1 s").waitFor();
  await tick.locator("summary", { hasText: "History" }).click();
  await tick
    .locator('.runs li[data-status="missed"]', { hasText: /missed/ })
    .first()
    .waitFor();
  expect(await page.locator(".schedules button").count()).toBe(0);
  await page.emulateMedia({ colorScheme: "dark" });
  await shoot(page, "phone-dark");
  const width = await page.evaluate(() => document.documentElement.scrollWidth);
  expect(width).toBeLessThanOrEqual(390);
  expect(pageErrors).toEqual([]);
}, 60_000);

test("the form works on a phone, with an interval", async () => {
  const { name, at } = await testbed.newAgent({ name: "carol", model: "scripted:default" });
  const { page, pageErrors } = await openAddress(`/app/global/${name}/schedules`, phone);
  await page.getByRole("button", { name: "New schedule" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("When").selectOption("every");
  await dialog.getByLabel("Amount").fill("none");
  await dialog.getByText("Enter a number above 0.").waitFor();
  await dialog.getByLabel("Amount").fill("2");
  await dialog.locator(".next-times li", { hasText: /in (2 h|1 h 59 min)/ }).waitFor();
  await dialog.getByLabel("Message").fill("Look again");
  await dialog.getByText("If a time is missed").click();
  await dialog.getByLabel("If the previous run is not over", { exact: true }).selectOption("skip");
  await shoot(page, "phone-form");
  await dialog.getByRole("button", { name: "Add schedule" }).click();
  await findSchedule(page, "Look again").getByText("every 2 h").waitFor();
  const { body } = await testbed.api(`${at}/schedules`);
  expect(body.schedules).toMatchObject([{ when: { every: 7200 }, overlap: "skip" }]);
  expect(pageErrors).toEqual([]);
});
