import { mkdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { AgencyUsage, UserUsage } from "@thinkery/sdk";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { createLoginLink, openBrowser, openPage } from "../kit/browser.ts";
import { type ModelServer, openModelServer, type SeenRequest } from "../kit/model-server.ts";
import { waitUntil } from "../kit/wait-until.ts";
import { openTestbed, type Testbed, type TestAgent } from "../kit/worker/testbed.ts";

// What the page shows of usage and budgets, in a house whose day can be set: models say how many tokens they used by the message.

const shots = fileURLToPath(new URL("../../test-output/page/", import.meta.url));
const phone = { viewport: { width: 390, height: 780 }, hasTouch: true };
let server: ModelServer;
let workshop: Testbed;
let browser: Browser;

beforeAll(async () => {
  mkdirSync(shots, { recursive: true });
  server = await openModelServer({ models: ["large", "small", "secret"] });
  server.answer(answer);
  [workshop, browser] = await Promise.all([
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
  await workshop?.stop();
  await server?.stop();
});

/** “use 300” */
function answer({ latest }: SeenRequest) {
  const amount = Number(latest.split(" ")[1] ?? 100);
  const output = Math.floor(amount / 5);
  return {
    text: `Used ${amount}.`,
    usage: { input: amount - output, output, cached: latest.startsWith("again") ? Math.floor(amount / 2) : 0 },
  };
}

async function openAddress(path: string, options: Parameters<typeof openPage>[1] = {}) {
  const visited = await openPage(browser, { viewport: { width: 1280, height: 900 }, ...options });
  onTestFinished(() => visited.context.close());
  await visited.page.goto(await createLoginLink(workshop.house()));
  await visited.page.getByRole("heading", { name: "Welcome" }).waitFor();
  await visited.page.goto(workshop.house().url + path);
  return visited;
}

async function newAgent(agency: string, name: string, model: string): Promise<TestAgent> {
  await workshop.house().client.call("createAgent", { params: { agency }, body: { name, model } });
  return workshop.agentAt(`/agency/${agency}/agent/${name}`, name);
}

const setDay = (daysAgo: number) => workshop.api("/health", "GET", undefined, { "x-days-ago": String(daysAgo) });

const hasNoOverflow = (page: Page) =>
  page.evaluate(() => document.documentElement.scrollWidth <= document.documentElement.clientWidth);

const findFigure = (page: Page, name: string) =>
  page
    .locator(".figure", { has: page.getByText(name, { exact: true }) })
    .locator(".figure-value")
    .innerText();

let seeding: Promise<void> | undefined;

/** Forty days of three agents in three agencies, made once. */
const seedOnce = () => (seeding ??= seed());

async function seed(): Promise<void> {
  const { client } = workshop.house();
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
  const calls = async () => (await client.call("getUserUsage", { query: { days: 90 } })).total.calls;
  await waitUntil("the books", async () => (await calls()) === plan.length);
}

test("where nothing was used the page says what would be there, and offers a budget", async () => {
  const { page, complaints } = await openAddress("/app");
  await page.getByRole("link", { name: "Usage and budget" }).click();
  await page.getByText("Nothing was used in the last 30 days").waitFor();
  expect(new URL(page.url()).pathname).toBe("/app/~usage");
  await page.getByText("Nothing is limited").waitFor();
  await page.getByRole("button", { name: "Set a budget" }).waitFor();
  await page.screenshot({ path: `${shots}usage-empty.png`, fullPage: true });
  // An address that was kept leads there again.
  await page.reload();
  await page.getByRole("heading", { name: "Usage and budget" }).waitFor();
  expect(await page.title()).toBe("Usage · Thinkery");
  expect(complaints).toEqual([]);
});

test("what was used is shown by day, by model and by whose it is, as the host counts it", async () => {
  const { client } = workshop.house();
  await seedOnce();
  const usage = (days: number): Promise<UserUsage> => client.call("getUserUsage", { query: { days } });
  const { page, complaints } = await openAddress("/app/~usage");
  const sum = ({ inputTokens, outputTokens }: UserUsage["total"]) => `${(inputTokens + outputTokens) / 1000}k`;
  await waitUntil("the figures", async () => (await findFigure(page, "Tokens")) === sum((await usage(30)).total));
  expect(await findFigure(page, "Calls")).toBe("17");
  // One price is not known, so that of all is not, and no zero stands in its place.
  expect(await findFigure(page, "Cost")).toMatch(/^at least \$\d+\.\d\d$/);
  await page.getByText("The price of local:secret is not known").waitFor();
  const rows = await page.locator(".usage-table").first().locator("tbody tr").allInnerTexts();
  expect(rows.map((row) => row.split(/\s+/)[0])).toEqual(["local:large", "local:small", "local:secret"]);
  expect(rows[2]).toContain("unknown");
  expect(rows[2]).not.toContain("$0");

  // A bar a day for 30 days, parted by model where there are several.
  expect(await page.locator(".day-chart-plot g").count()).toBe(30);
  expect(await page.locator(".day-chart-plot rect[data-series]").count()).toBe(17);
  const words = page.locator(".day-chart-words");
  await waitUntil("today", async () => /^Today\s+30k tokens · 2 calls/.test(await words.innerText()));
  const plot = page.getByRole("slider", { name: "Tokens by day" });
  const { x, width, y } = (await plot.boundingBox()) ?? { x: 0, width: 0, y: 0 };
  await page.mouse.move(x + (23.5 / 30) * width, y + 40);
  await waitUntil("the day under the pointer", async () =>
    /124k tokens · 3 calls · cost unknown/.test(await words.innerText()),
  );
  expect(await words.innerText()).toContain("local:large 67k, local:small 41k, local:secret 16k");
  await page.screenshot({ path: `${shots}usage-light.png`, fullPage: true });
  await page.emulateMedia({ colorScheme: "dark" });
  await page.screenshot({ path: `${shots}usage-dark.png`, fullPage: true });
  await page.mouse.move(0, 0);
  await plot.focus();
  await page.keyboard.press("ArrowLeft");
  expect(await plot.getAttribute("aria-valuetext")).toContain("98,000 tokens, 2 calls, $");
  await page.keyboard.press("ArrowLeft");
  expect(await words.innerText()).toContain("nothing");
  await page.keyboard.press("Home");
  expect(await plot.getAttribute("aria-valuenow")).toBe("1");

  // Whose it is: a deleted agency stays in the books and leads nowhere.
  await client.call("deleteAgency", { params: { agency: "gone" } });
  const shares = page.getByRole("region", { name: "By agency" });
  await shares.locator("tr", { hasText: "gone deleted" }).waitFor();
  expect(await shares.getByRole("link").allInnerTexts()).toEqual(["Global", "Code review"]);

  // Longer ago there was more; what is shown meanwhile stays.
  await page.getByText("90 days").click();
  await waitUntil("90 days", async () => (await findFigure(page, "Calls")) === "18");
  expect(await page.locator(".day-chart-plot g").count()).toBe(90);
  await page.getByText("7 days", { exact: true }).click();
  await waitUntil("7 days", async () => (await findFigure(page, "Calls")) === "7");
  await shares.getByRole("link", { name: "Code review" }).click();
  await page.getByRole("heading", { name: "Code review" }).waitFor();
  await page.getByRole("link", { name: "Usage", exact: true }).click();
  const ofAgency: AgencyUsage = await client.call("getAgencyUsage", {
    params: { agency: "review" },
    query: { days: 30 },
  });
  await waitUntil("the agency's", async () => (await findFigure(page, "Calls")) === String(ofAgency.total.calls));
  await page.getByRole("region", { name: "By agent" }).getByRole("link", { name: "bob" }).waitFor();
  expect(complaints).toEqual([]);
});

test("on a phone the usage fits, and a touch tells of a day", async () => {
  await seedOnce();
  const { page, complaints } = await openAddress("/app/~usage", { ...phone, colorScheme: "dark" });
  const plot = page.getByRole("slider", { name: "Tokens by day" });
  await plot.waitFor();
  expect(await hasNoOverflow(page)).toBe(true);
  const { x, width, y } = (await plot.boundingBox()) ?? { x: 0, width: 0, y: 0 };
  await page.touchscreen.tap(x + (17.5 / 30) * width, y + 40);
  await waitUntil("the day", async () => /91k tokens/.test(await page.locator(".day-chart-words").innerText()));
  await page.screenshot({ path: `${shots}usage-phone.png`, fullPage: true });
  expect(await hasNoOverflow(page)).toBe(true);
  expect(complaints).toEqual([]);
});

test("a budget is refused at its field in the host's own words, set, used up, changed and cleared", async () => {
  const { client } = workshop.house();
  await client.call("createAgency", { body: { id: "frugal" } });
  const agent = await newAgent("frugal", "fay", "local:large");
  await agent.say("use 600");
  const { page, complaints } = await openAddress("/app/frugal/~usage");
  await page.getByText("Nothing is limited in this agency").waitFor();
  await page.getByRole("button", { name: "Set a budget" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Cost").fill("-5");
  await dialog.getByLabel("Tokens").fill("0");
  await dialog.getByLabel("Minutes").fill("soon");
  await dialog.getByRole("button", { name: "Set the budget" }).click();
  const problems = dialog.locator(".field-problem");
  await problems.first().waitFor();
  expect(await problems.allInnerTexts()).toEqual([
    "Expected more than 0; leave it out for no limit.",
    "Expected more than 0; leave it out for no limit.",
    "Expected a number.",
  ]);
  // The first of them is where one goes on, and what was typed is still there.
  expect(await dialog.getByLabel("Cost").evaluate((field) => field === document.activeElement)).toBe(true);
  expect(await dialog.getByLabel("Minutes").inputValue()).toBe("soon");
  await page.screenshot({ path: `${shots}budget-refused.png` });
  expect((await client.call("getAgencyBudget", { params: { agency: "frugal" } })).budget).toBeNull();

  for (const label of ["Cost", "Minutes"]) await dialog.getByLabel(label).fill("");
  await dialog.getByRole("button", { name: "Set the budget" }).click();
  await dialog.getByText("Expected more than 0").waitFor();
  await dialog.getByLabel("Tokens").fill("1k");
  await dialog.getByLabel("Minutes").fill("90");
  await dialog.getByRole("button", { name: "Set the budget" }).click();
  await dialog.waitFor({ state: "detached" });
  expect((await client.call("getAgencyBudget", { params: { agency: "frugal" } })).budget).toEqual({
    tokens: 1000,
    seconds: 5400,
    per: "day",
  });
  const bar = page.getByRole("meter", { name: "Tokens a day" });
  await waitUntil("the bar", async () => (await bar.getAttribute("aria-valuetext")) === "60 %: 600 of 1k tokens");

  // A turn that it ends says so where it happens, with the same bar, and leads here.
  expect(await agent.say("use 500")).toMatchObject({ type: "agent.completed" });
  await page.goto(`${workshop.house().url}/app/frugal/fay`);
  await page.getByLabel("Message to").fill("use 1");
  await page.getByLabel("Message to").press("Enter");
  const errorBox = page.locator(".entry-trouble");
  const inTrouble = async () => {
    await errorBox.getByText("The budget is used up.").waitFor();
    await errorBox.getByText("thinkery budget set @frugal --tokens …").waitFor();
    expect(await errorBox.getByRole("meter").getAttribute("aria-valuetext")).toBe("110 %: 1.1k of 1k tokens");
  };
  await inTrouble();
  await page.screenshot({ path: `${shots}budget-used-up.png` });
  await page.reload();
  await inTrouble();
  await page.getByText("About").click();
  await page.locator(".about").getByRole("meter", { name: "Tokens a day" }).waitFor();
  await page.screenshot({ path: `${shots}budget-about.png` });
  await page.setViewportSize(phone.viewport);
  expect(await hasNoOverflow(page)).toBe(true);
  await page.screenshot({ path: `${shots}budget-about-phone.png`, animations: "disabled" });
  await page.setViewportSize({ width: 1280, height: 900 });
  await errorBox.getByRole("link", { name: "See or raise the budget" }).click();

  await waitUntil("more than all", async () => (await bar.getAttribute("data-tone")) === "bad");
  await page.getByRole("button", { name: "Change" }).click();
  expect([await dialog.getByLabel("Tokens").inputValue(), await dialog.getByLabel("Minutes").inputValue()]).toEqual([
    "1000",
    "90",
  ]);
  await dialog.getByLabel("Tokens").fill("5000");
  await dialog.getByLabel("Minutes").fill("");
  await dialog.getByRole("button", { name: "Set the budget" }).click();
  await dialog.waitFor({ state: "detached" });
  await waitUntil("room again", async () => (await bar.getAttribute("aria-valuetext")) === "22 %: 1.1k of 5k tokens");
  expect(await page.getByRole("meter").count()).toBe(1);
  expect(await agent.say("use 1")).toMatchObject({ type: "agent.completed" });

  // The user's own holds here as well, and is told apart.
  await client.call("putUserBudget", { body: { costUsd: 50, per: "ever" } });
  await page.reload();
  await page.getByRole("heading", { name: "All your agencies" }).waitFor();
  await page.screenshot({ path: `${shots}budget-both.png`, fullPage: true });
  await client.call("deleteUserBudget");
  await page.getByRole("button", { name: "Clear" }).click();
  await dialog.getByRole("button", { name: "Clear the budget" }).click();
  await page.getByText("Nothing is limited in this agency").waitFor();
  expect((await client.call("getAgencyBudget", { params: { agency: "frugal" } })).budget).toBeNull();
  expect(complaints).toEqual([]);
});

test("a limit that could not be kept is not said to be used up", async () => {
  const { client } = workshop.house();
  await client.call("createAgency", { body: { id: "unpriced" } });
  await client.call("putAgencyBudget", { params: { agency: "unpriced" }, body: { costUsd: 5 } });
  await newAgent("unpriced", "una", "local:secret");
  const { page } = await openAddress("/app/unpriced/una");
  await page.getByLabel("Message to").fill("use 1");
  await page.getByLabel("Message to").press("Enter");
  const errorBox = page.locator(".entry-trouble");
  await errorBox.getByText("This turn failed.").waitFor();
  await errorBox.getByText("The price of local:secret is not known").waitFor();
  expect(await errorBox.getByText("used up").count()).toBe(0);
});
