import { mkdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { AgencyUsage, UserUsage } from "@thinkery/sdk";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { createLoginLink, openBrowser, openPage } from "../kit/browser.ts";
import { type ModelServer, openModelServer, type RecordedRequest } from "../kit/model-server.ts";
import { waitUntil } from "../kit/wait-until.ts";
import { openTestbed, type Testbed, type TestAgent } from "../kit/worker/testbed.ts";

// Usage and budgets on the page, with a host whose date can be set. Models use as many tokens as the message says.

const screenshots = fileURLToPath(new URL("../../test-output/page/", import.meta.url));
const phone = { viewport: { width: 390, height: 780 }, hasTouch: true };
let server: ModelServer;
let testbed: Testbed;
let browser: Browser;

beforeAll(async () => {
  mkdirSync(screenshots, { recursive: true });
  server = await openModelServer({ models: ["large", "small", "secret"] });
  server.answer(respond);
  [testbed, browser] = await Promise.all([
    openTestbed({
      worker: new URL("../kit/worker/calendar.worker.ts", import.meta.url),
      config: {
        providers: { local: { baseUrl: `${server.url}/v1` } },
        prices: { "local:large": { input: 3, output: 15 }, "local:small": { input: 0.25, output: 1 } },
        turn: { heartbeatSeconds: 1 },
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

/** “use 300” uses 300 tokens; “again 300” reads half of them from the cache. */
function respond({ latest }: RecordedRequest) {
  const amount = Number(latest.split(" ")[1] ?? 100);
  const output = Math.floor(amount / 5);
  return {
    text: `Used ${amount}.`,
    usage: { input: amount - output, output, cached: latest.startsWith("again") ? Math.floor(amount / 2) : 0 },
  };
}

async function openAddress(path: string, options: Parameters<typeof openPage>[1] = {}) {
  const opened = await openPage(browser, { viewport: { width: 1280, height: 900 }, ...options });
  onTestFinished(() => opened.context.close());
  await opened.page.goto(await createLoginLink(testbed.host()));
  await opened.page.getByRole("heading", { name: "Welcome" }).waitFor();
  await opened.page.goto(testbed.host().url + path);
  return opened;
}

async function newAgent(agency: string, name: string, model: string): Promise<TestAgent> {
  await testbed.host().client.call("createAgent", { params: { agency }, body: { name, model } });
  return testbed.agentAt(`/agency/${agency}/agent/${name}`, name);
}

const setDay = (daysAgo: number) => testbed.api("/health", "GET", undefined, { "x-days-ago": String(daysAgo) });

const hasNoOverflow = (page: Page) =>
  page.evaluate(() => document.documentElement.scrollWidth <= document.documentElement.clientWidth);

const findFigure = (page: Page, name: string) =>
  page
    .locator(".figure", { has: page.getByText(name, { exact: true }) })
    .locator(".figure-value")
    .innerText();

let seeding: Promise<void> | undefined;

/** Creates forty days of usage by three agents in three agencies, once. */
const seedOnce = () => (seeding ??= seed());

async function seed(): Promise<void> {
  const { client } = testbed.host();
  await setDay(40);
  await client.call("createAgency", { body: { id: "review", name: "Code review" } });
  await client.call("createAgency", { body: { id: "gone" } });
  const [ann, bob, eve] = [
    await newAgent("global", "ann", "local:large"),
    await newAgent("review", "bob", "local:small"),
    await newAgent("gone", "eve", "local:secret"),
  ];
  const plan: [daysAgo: number, agent: TestAgent, message: string][] = [
    [40, ann, "use 999000"],
    [26, ann, "use 12000"],
    [22, ann, "use 48000"],
    [21, bob, "use 64000"],
    [20, ann, "again 31000"],
    [15, eve, "use 9000"],
    [13, ann, "use 72000"],
    [13, bob, "use 38000"],
    [12, ann, "use 91000"],
    [8, bob, "use 22000"],
    [7, ann, "again 54000"],
    [6, ann, "use 67000"],
    [6, bob, "again 41000"],
    [6, eve, "use 16000"],
    [1, ann, "use 86000"],
    [1, bob, "use 12000"],
    [0, ann, "use 23000"],
    [0, bob, "use 7000"],
  ];
  for (const [daysAgo, agent, message] of plan) {
    await setDay(daysAgo);
    expect(await agent.say(message)).toMatchObject({ type: "agent.completed" });
  }
  const countCalls = async () => (await client.call("getUserUsage", { query: { days: 90 } })).total.calls;
  await waitUntil("the usage to be recorded", async () => (await countCalls()) === plan.length);
}

test("without usage the page says so and offers to set a budget", async () => {
  const { page, pageErrors } = await openAddress("/app");
  await page.getByRole("link", { name: "Usage and budget" }).click();
  await page.getByText("No usage in the last 30 days").waitFor();
  expect(new URL(page.url()).pathname).toBe("/app/~usage");
  await page.getByText("No budget", { exact: true }).waitFor();
  await page.getByRole("button", { name: "Set budget" }).waitFor();
  await page.screenshot({ path: `${screenshots}usage-empty.png`, fullPage: true });
  // The address can be bookmarked.
  await page.reload();
  await page.getByRole("heading", { name: "Usage and budget" }).waitFor();
  expect(await page.title()).toBe("Usage · Thinkery");
  expect(pageErrors).toEqual([]);
});

test("usage is shown by day, by model and by agency, as the host counts it", async () => {
  const { client } = testbed.host();
  await seedOnce();
  const getUsage = (days: number): Promise<UserUsage> => client.call("getUserUsage", { query: { days } });
  const { page, pageErrors } = await openAddress("/app/~usage");
  const formatTokens = ({ inputTokens, outputTokens }: UserUsage["total"]) => `${(inputTokens + outputTokens) / 1000}k`;
  await waitUntil(
    "the figures",
    async () => (await findFigure(page, "Tokens")) === formatTokens((await getUsage(30)).total),
  );
  expect(await findFigure(page, "Calls")).toBe("17");
  // One price is unknown, so the total is a lower bound and the unknown cost is not shown as zero.
  expect(await findFigure(page, "Cost")).toMatch(/^at least \$\d+\.\d\d$/);
  await page.getByText("The price of local:secret is unknown").waitFor();
  const rows = await page.locator(".usage-table").first().locator("tbody tr").allInnerTexts();
  expect(rows.map((row) => row.split(/\s+/)[0])).toEqual(["local:large", "local:small", "local:secret"]);
  expect(rows[2]).toContain("unknown");
  expect(rows[2]).not.toContain("$0");

  // One bar per day for 30 days, split by model.
  expect(await page.locator(".day-chart-plot g").count()).toBe(30);
  expect(await page.locator(".day-chart-plot rect[data-series]").count()).toBe(17);
  const summary = page.locator(".day-chart-summary");
  await waitUntil("today", async () => /^Today\s+30k tokens · 2 calls/.test(await summary.innerText()));
  const plot = page.getByRole("slider", { name: "Tokens by day" });
  const { x, width, y } = (await plot.boundingBox()) ?? { x: 0, width: 0, y: 0 };
  await page.mouse.move(x + (23.5 / 30) * width, y + 40);
  await waitUntil("the day under the pointer", async () =>
    /124k tokens · 3 calls · cost unknown/.test(await summary.innerText()),
  );
  expect(await summary.innerText()).toContain("local:large 67k, local:small 41k, local:secret 16k");
  await page.screenshot({ path: `${screenshots}usage-light.png`, fullPage: true });
  await page.emulateMedia({ colorScheme: "dark" });
  await page.screenshot({ path: `${screenshots}usage-dark.png`, fullPage: true });
  await page.mouse.move(0, 0);
  await plot.focus();
  await page.keyboard.press("ArrowLeft");
  expect(await plot.getAttribute("aria-valuetext")).toContain("98,000 tokens, 2 calls, $");
  await page.keyboard.press("ArrowLeft");
  expect(await summary.innerText()).toContain("no usage");
  await page.keyboard.press("Home");
  expect(await plot.getAttribute("aria-valuenow")).toBe("1");

  // A deleted agency stays in the usage without a link.
  await client.call("deleteAgency", { params: { agency: "gone" } });
  const shares = page.getByRole("region", { name: "By agency" });
  await shares.locator("tr", { hasText: "gone deleted" }).waitFor();
  expect(await shares.getByRole("link").allInnerTexts()).toEqual(["Global", "Code review"]);

  // The period can be changed; the previous figures stay until the new ones are loaded.
  await page.getByText("90 days").click();
  await waitUntil("90 days", async () => (await findFigure(page, "Calls")) === "18");
  expect(await page.locator(".day-chart-plot g").count()).toBe(90);
  await page.getByText("7 days", { exact: true }).click();
  await waitUntil("7 days", async () => (await findFigure(page, "Calls")) === "7");
  await shares.getByRole("link", { name: "Code review" }).click();
  await page.getByRole("heading", { name: "Code review" }).waitFor();
  await page.getByRole("link", { name: "Usage", exact: true }).click();
  const agencyUsage: AgencyUsage = await client.call("getAgencyUsage", {
    params: { agency: "review" },
    query: { days: 30 },
  });
  await waitUntil(
    "the agency's usage",
    async () => (await findFigure(page, "Calls")) === String(agencyUsage.total.calls),
  );
  await page.getByRole("region", { name: "By agent" }).getByRole("link", { name: "bob" }).waitFor();
  expect(pageErrors).toEqual([]);
});

test("on a phone the usage fits, and a tap shows a day", async () => {
  await seedOnce();
  const { page, pageErrors } = await openAddress("/app/~usage", { ...phone, colorScheme: "dark" });
  const plot = page.getByRole("slider", { name: "Tokens by day" });
  await plot.waitFor();
  expect(await hasNoOverflow(page)).toBe(true);
  const { x, width, y } = (await plot.boundingBox()) ?? { x: 0, width: 0, y: 0 };
  await page.touchscreen.tap(x + (17.5 / 30) * width, y + 40);
  await waitUntil("the day", async () => /91k tokens/.test(await page.locator(".day-chart-summary").innerText()));
  await page.screenshot({ path: `${screenshots}usage-phone.png`, fullPage: true });
  expect(await hasNoOverflow(page)).toBe(true);
  expect(pageErrors).toEqual([]);
});

test("a budget is validated at its fields, set, exceeded, changed and removed", async () => {
  const { client } = testbed.host();
  await client.call("createAgency", { body: { id: "frugal" } });
  const agent = await newAgent("frugal", "fay", "local:large");
  await agent.say("use 600");
  const { page, pageErrors } = await openAddress("/app/frugal/~usage");
  await page.getByText("No budget for this agency").waitFor();
  await page.getByRole("button", { name: "Set budget" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Cost").fill("-5");
  await dialog.getByLabel("Tokens").fill("0");
  await dialog.getByLabel("Minutes").fill("soon");
  await dialog.getByRole("button", { name: "Save" }).click();
  const fieldErrors = dialog.locator(".field-error");
  await fieldErrors.first().waitFor();
  expect(await fieldErrors.allInnerTexts()).toEqual([
    "Expected more than 0; leave it out for no limit.",
    "Expected more than 0; leave it out for no limit.",
    "Expected a number.",
  ]);
  // Focus moves to the first invalid field, and the input is kept.
  expect(await dialog.getByLabel("Cost").evaluate((field) => field === document.activeElement)).toBe(true);
  expect(await dialog.getByLabel("Minutes").inputValue()).toBe("soon");
  await page.screenshot({ path: `${screenshots}budget-invalid.png` });
  expect((await client.call("getAgencyBudget", { params: { agency: "frugal" } })).budget).toBeNull();

  for (const label of ["Cost", "Minutes"]) await dialog.getByLabel(label).fill("");
  await dialog.getByRole("button", { name: "Save" }).click();
  await dialog.getByText("Expected more than 0").waitFor();
  await dialog.getByLabel("Tokens").fill("1k");
  await dialog.getByLabel("Minutes").fill("90");
  await dialog.getByRole("button", { name: "Save" }).click();
  await dialog.waitFor({ state: "detached" });
  expect((await client.call("getAgencyBudget", { params: { agency: "frugal" } })).budget).toEqual({
    tokens: 1000,
    seconds: 5400,
    per: "day",
  });
  const bar = page.getByRole("meter", { name: "Tokens per day" });
  await waitUntil("the bar", async () => (await bar.getAttribute("aria-valuetext")) === "60%: 600 of 1k tokens");

  // A turn that exceeds the budget shows the same bar and links back here.
  expect(await agent.say("use 500")).toMatchObject({ type: "agent.completed" });
  await page.goto(`${testbed.host().url}/app/frugal/fay`);
  await page.getByLabel("Message to").fill("use 1");
  await page.getByLabel("Message to").press("Enter");
  const errorBox = page.locator(".entry-error");
  const expectBudgetError = async () => {
    await errorBox.getByText("Budget exceeded.").waitFor();
    await errorBox.getByText("thinkery budget set @frugal --tokens …").waitFor();
    expect(await errorBox.getByRole("meter").getAttribute("aria-valuetext")).toBe("110%: 1.1k of 1k tokens");
  };
  await expectBudgetError();
  await page.screenshot({ path: `${screenshots}budget-exceeded.png` });
  await page.reload();
  await expectBudgetError();
  await page.getByText("About").click();
  await page.locator(".about").getByRole("meter", { name: "Tokens per day" }).waitFor();
  await page.screenshot({ path: `${screenshots}budget-about.png` });
  await page.setViewportSize(phone.viewport);
  expect(await hasNoOverflow(page)).toBe(true);
  await page.screenshot({ path: `${screenshots}budget-about-phone.png`, animations: "disabled" });
  await page.setViewportSize({ width: 1280, height: 900 });
  await errorBox.getByRole("link", { name: "View or raise budget" }).click();

  await waitUntil("the bar to be exceeded", async () => (await bar.getAttribute("data-tone")) === "bad");
  await page.getByRole("button", { name: "Edit" }).click();
  expect([await dialog.getByLabel("Tokens").inputValue(), await dialog.getByLabel("Minutes").inputValue()]).toEqual([
    "1000",
    "90",
  ]);
  await dialog.getByLabel("Tokens").fill("5000");
  await dialog.getByLabel("Minutes").fill("");
  await dialog.getByRole("button", { name: "Save" }).click();
  await dialog.waitFor({ state: "detached" });
  await waitUntil(
    "the raised limit",
    async () => (await bar.getAttribute("aria-valuetext")) === "22%: 1.1k of 5k tokens",
  );
  expect(await page.getByRole("meter").count()).toBe(1);
  expect(await agent.say("use 1")).toMatchObject({ type: "agent.completed" });

  // The user's own budget applies here as well and is shown separately.
  await client.call("putUserBudget", { body: { costUsd: 50, per: "ever" } });
  await page.reload();
  await page.getByRole("heading", { name: "All your agencies" }).waitFor();
  await page.screenshot({ path: `${screenshots}budget-both.png`, fullPage: true });
  await client.call("deleteUserBudget");
  await page.getByRole("button", { name: "Remove" }).click();
  await dialog.getByRole("button", { name: "Remove budget" }).click();
  await page.getByText("No budget for this agency").waitFor();
  expect((await client.call("getAgencyBudget", { params: { agency: "frugal" } })).budget).toBeNull();
  expect(pageErrors).toEqual([]);
});

test("a cost limit that cannot be enforced is not reported as exceeded", async () => {
  const { client } = testbed.host();
  await client.call("createAgency", { body: { id: "unpriced" } });
  await client.call("putAgencyBudget", { params: { agency: "unpriced" }, body: { costUsd: 5 } });
  await newAgent("unpriced", "una", "local:secret");
  const { page } = await openAddress("/app/unpriced/una");
  await page.getByLabel("Message to").fill("use 1");
  await page.getByLabel("Message to").press("Enter");
  const errorBox = page.locator(".entry-error");
  await errorBox.getByText("Turn failed.").waitFor();
  await errorBox.getByText("The price of local:secret is unknown").waitFor();
  expect(await errorBox.getByText("Budget exceeded").count()).toBe(0);
});
