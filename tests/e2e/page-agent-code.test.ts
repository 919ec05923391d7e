import { mkdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { BodyIn, Endpoints, SettingValue } from "@thinkery/sdk";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { openBrowser, openPage } from "../kit/browser.ts";
import { findIdleStatus, findText, say } from "../kit/chat.ts";
import { type HostProcess, startHostProcess } from "../kit/host-process.ts";
import { waitUntil } from "../kit/wait-until.ts";

// Agents that users write, on the page: packages and their versions, and the code, log and settings of an agent.

const screenshots = fileURLToPath(new URL("../../test-output/page/", import.meta.url));
const phone = { viewport: { width: 390, height: 780 }, hasTouch: true, isMobile: true };
let host: HostProcess;
let browser: Browser;

beforeAll(async () => {
  mkdirSync(screenshots, { recursive: true });
  [host, browser] = await Promise.all([startHostProcess(), openBrowser()]);
}, 60_000);

afterAll(async () => {
  await browser?.close();
  await host?.stop();
});

type NewDeploy = BodyIn<Endpoints["deployPackage"]>;

/** Deploys an agent with this definition, which creates an agent of the same name the first time. */
function deploy(
  agency: string,
  name: string,
  definition: string,
  { manifest, ...rest }: { manifest?: Partial<NewDeploy["manifest"]>; description?: string } = {},
) {
  const code = `import { defineAgent } from "/thinkery/sdk.js";\nexport default defineAgent(${definition});\n`;
  const body = { name, code, manifest: { type: "agent", runtime: "isolate", ...manifest }, ...rest } as const;
  return host.client.call("deployPackage", { params: { agency }, body });
}

/** Sends a message to an agent and returns how its turn ended. */
async function ask(target: string, message: string) {
  const turn = await host.client.agent(target).send(message);
  return turn.outcome();
}

async function openAddress(path: string, options: Parameters<typeof openPage>[1] = {}, scopes?: "read"[]) {
  const opened = await openPage(browser, { viewport: { width: 1280, height: 900 }, ...options });
  onTestFinished(() => opened.context.close());
  const { code } = await host.client.call("createLoginCode", scopes ? { body: { scopes } } : {});
  await opened.page.goto(`${host.url}/#code=${code}`);
  await opened.page.getByRole("heading", { name: "Welcome" }).waitFor();
  await opened.page.goto(host.url + path);
  return opened;
}

const newAgency = (id: string) => host.client.call("createAgency", { body: { id } });
const shoot = (page: Page, name: string) => page.screenshot({ path: `${screenshots}agent-code-${name}.png` });
const findVersion = (page: Page, version: number) => page.locator(`.package-versions > [data-version="${version}"]`);
const readWidth = (page: Page) => page.evaluate(() => document.documentElement.scrollWidth);

const greeter = (version: number) => `{
  settings: { greeting: { type: "text", default: "Hello" } },
  state: { count: 0 },
  async onMessage(message, ctx) {
    ctx.setState({ count: ctx.state.count + 1 });
    await ctx.send("version ${version}: " + ctx.settings.greeting + " " + (ctx.state.count));
  },
}`;

test("versions appear as they are deployed; an earlier one answers after a roll-back, with state and settings", async () => {
  await newAgency("packs");
  const { page, context, pageErrors } = await openAddress("/app/packs");
  await page.getByRole("link", { name: "Packages" }).click();
  await page.getByText("No packages yet").waitFor();
  await page.getByText("thinkery chat hello@packs").waitFor();
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  await page.getByRole("button", { name: "Copy thinkery agent init hello" }).click();
  await waitUntil(
    "the copied command",
    async () => (await page.evaluate(() => navigator.clipboard.readText())) === "thinkery agent init hello",
  );
  await shoot(page, "empty");

  const options = { description: "Greets people.", manifest: { displayName: "Greeter" } };
  await deploy("packs", "hello", greeter(1), options);
  const row = page.getByRole("row", { name: /Greeter/ });
  await row.getByText("only its replies, state, storage and log").waitFor();
  await deploy("packs", "hello", greeter(2), { manifest: { ...options.manifest, capabilities: ["ai"] } });
  await page.locator("tr[data-new]", { hasText: "calls models" }).waitFor();
  await shoot(page, "list");
  await row.getByRole("link", { name: "Greeter" }).click();
  await findVersion(page, 2).getByText("current").waitFor();
  await deploy("packs", "hello", greeter(3), { manifest: { ...options.manifest, capabilities: ["ai", "fetch"] } });
  await page.locator('[data-version="3"][data-new]').waitFor();
  await findVersion(page, 3).getByText("Asked for more than version 2: fetch").waitFor();
  await page.locator('[data-version="3"]:not([data-new])').waitFor();
  await shoot(page, "package");

  const params = { agency: "packs", agent: "hello" };
  await host.client.call("putSettings", { params, body: { settings: { greeting: "Moin" } } });
  expect(await ask("hello@packs", "Hi")).toMatchObject({ content: "version 3: Moin 1" });
  await findVersion(page, 2).getByRole("button", { name: "Roll back to version 2" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByText("State, storage and settings stay as they are").waitFor();
  await shoot(page, "roll-back");
  await dialog.getByRole("button", { name: "Roll back" }).click();
  await findVersion(page, 2).getByText("current").waitFor();
  await dialog.waitFor({ state: "detached" });
  expect(await ask("hello@packs", "Hi")).toMatchObject({ content: "version 2: Moin 2" });

  await page.getByRole("button", { name: "Delete" }).click();
  await dialog.getByText("Delete the agents that run it first").waitFor();
  await dialog.getByRole("button", { name: "Delete package" }).click();
  await dialog.getByRole("alert").getByText(/hello/).waitFor();
  await shoot(page, "delete-refused");
  await dialog.getByRole("button", { name: "Cancel" }).click();
  await host.client.call("deleteAgent", { params });
  await page.getByText("No agent runs it.").waitFor();
  await page.getByRole("button", { name: "Delete" }).click();
  await dialog.getByRole("button", { name: "Delete package" }).click();
  await page.getByText("No packages yet").waitFor();
  expect(pageErrors).toEqual([]);
});

const adjustable = (max: number) => `{
  settings: {
    volume: { type: "number", label: "Volume", description: "How loud it is.", min: 0, max: ${max}, step: 1, default: 3 },
    greeting: { type: "text", label: "Greeting", maxLength: 20 },
    notes: { type: "text", label: "Notes", multiline: true, default: "none" },
    model: { type: "select", label: "Model", options: "$roles", default: "fast" },
    polite: { type: "toggle", label: "Polite", default: true },
  },
  async onMessage(message, ctx) { await ctx.send(JSON.stringify(ctx.settings)); },
}`;

test("settings are changed in a form that keeps what was entered, and reach the agent", async () => {
  await newAgency("sets");
  await deploy("sets", "dial", adjustable(10));
  const params = { agency: "sets", agent: "dial" };
  const put = (settings: Record<string, SettingValue>) =>
    host.client.call("putSettings", { params, body: { settings } });
  const readSet = async () => (await host.client.call("getSettings", { params })).set;
  const { page, pageErrors } = await openAddress("/app/sets/dial");
  await page.getByRole("link", { name: "Settings" }).click();
  const volume = page.getByRole("spinbutton", { name: "Volume" });
  const greeting = page.getByRole("textbox", { name: "Greeting", exact: true });
  const save = page.getByRole("button", { name: "Save" });
  await page.getByText("From 0 to 10. Default: 3").waitFor();
  await shoot(page, "settings");

  // Somebody else changes another setting meanwhile.
  await greeting.fill("Servus");
  await put({ volume: 5 });
  await waitUntil("the new volume", async () => (await volume.inputValue()) === "5");
  expect(await greeting.inputValue()).toBe("Servus");
  await page.getByText("1 unsaved change").waitFor();

  await volume.fill("99");
  await save.click();
  await page.getByText("Expected at most 10, not 99.").waitFor();
  await waitUntil("the focus", () => volume.evaluate((element) => element === document.activeElement));
  await shoot(page, "invalid");
  expect(await readSet()).toEqual({ volume: 5 });
  await page.getByRole("slider", { name: "Volume" }).press("ArrowLeft");
  await page.getByRole("switch", { name: "Polite" }).press("Space");
  await page.getByRole("combobox", { name: "Model" }).selectOption("vision");
  await save.click();
  await page.getByText("Saved", { exact: true }).waitFor();
  expect(await readSet()).toEqual({ volume: 9, greeting: "Servus", polite: false, model: "vision" });
  const { content } = await ask("dial@sets", "What is set?");
  expect(JSON.parse(content)).toEqual({
    volume: 9,
    greeting: "Servus",
    notes: "none",
    model: "vision",
    polite: false,
  });

  await page.getByRole("button", { name: "Reset Volume to its default" }).click();
  expect(await volume.inputValue()).toBe("3");
  await save.click();
  await page.getByText("Saved", { exact: true }).waitFor();
  expect(Object.keys(await readSet()).toSorted()).toEqual(["greeting", "model", "polite"]);
  expect(pageErrors).toEqual([]);
});

test("what the host refuses is shown at its field", async () => {
  await newAgency("late");
  await deploy("late", "dial", adjustable(10));
  const { page } = await openAddress("/app/late/dial/settings");
  await page.getByText("From 0 to 10.").waitFor();
  // The page does not hear of the new version, whose maximum is lower.
  await page.route("**/settings", (route) => (route.request().method() === "GET" ? route.abort() : route.continue()));
  await deploy("late", "dial", adjustable(4));
  await page.getByRole("spinbutton", { name: "Volume" }).fill("8");
  await page.getByRole("button", { name: "Save" }).click();
  await page.locator('[data-setting="volume"] .field-error', { hasText: "Expected at most 4, not 8." }).waitFor();
  await page.unroute("**/settings");
  const volume = page.getByRole("spinbutton", { name: "Volume" });
  await waitUntil("the new schema", async () => (await volume.getAttribute("max")) === "4");
  expect(await volume.inputValue()).toBe("8");
});

const logger = `{
  async onMessage({ content }, ctx) {
    ctx.log.info("got " + content + "\\n  second line");
    if (content === "many") for (let i = 1; i <= 80; i++) ctx.log.warn("line " + i);
    if (content === "fail") throw new TypeError("broken on purpose");
    await ctx.send("ok");
  },
}`;

test("an agent's log is followed live, pauses while it is read, and errors have their position", async () => {
  await newAgency("logs");
  await deploy("logs", "chatty", logger);
  const { page, pageErrors } = await openAddress("/app/logs/chatty/code");
  const log = page.getByRole("log", { name: "Log" });
  await log.getByText("Nothing yet.").waitFor();
  await ask("chatty@logs", "one");
  const first = log.locator("li", { hasText: "got one" });
  await first.waitFor();
  expect(await first.locator(".log-text").evaluate((text) => (text as HTMLElement).innerText)).toBe(
    "got one\n  second line",
  );
  await ask("chatty@logs", "many");
  await log.getByText("line 80").waitFor();
  const isAtEnd = () =>
    log.evaluate(({ scrollHeight, scrollTop, clientHeight }) => scrollHeight - scrollTop - clientHeight < 2);
  expect(await isAtEnd()).toBe(true);

  await log.evaluate((element) => (element.scrollTop = 0));
  await page.getByRole("button", { name: "Paused" }).waitFor();
  await ask("chatty@logs", "two");
  await page.getByRole("button", { name: "1 new line" }).click();
  await log.getByText("got two").waitFor();
  expect(await isAtEnd()).toBe(true);

  expect(await ask("chatty@logs", "fail")).toMatchObject({ status: "error" });
  const error = page.getByRole("region", { name: "Last error" }).locator("pre");
  await waitUntil("the error", async () => /broken on purpose[^]*:\d+:\d+/.test(await error.innerText()));
  await page.locator(".figure", { hasText: "Requests" }).getByText("1 failed").waitFor();
  await page.getByText("Errors", { exact: true }).click();
  await log.getByText("broken on purpose").waitFor();
  await waitUntil("only errors", async () => (await log.locator("[data-level]:not([data-level=error])").count()) === 0);
  await shoot(page, "code");
  await page.getByRole("link", { name: "Message" }).click();
  await findText(page, "broken on purpose").waitFor();
  expect(pageErrors).toEqual([]);
});

const hostile = '<img src=x onerror="window.hacked=1">\u202e\u001b[31m';
const attacker = `{
  settings: { evil: { type: "text", label: ${JSON.stringify(hostile)}, description: ${JSON.stringify(hostile)}, default: ${JSON.stringify(hostile)} } },
  tools: { peek: { description: ${JSON.stringify(hostile)}, execute: () => "" } },
  async onMessage(message, ctx) {
    ctx.log.info(${JSON.stringify(hostile)} + "x".repeat(5000));
    const reply = ctx.reply();
    void reply.thinking(${JSON.stringify(hostile)});
    void reply.action(${JSON.stringify(hostile)}, { text: ${JSON.stringify(hostile)} });
    if (message.content === "fail") throw new Error(${JSON.stringify(hostile)});
    await new Promise((resolve) => ctx.signal.addEventListener("abort", resolve));
  },
}`;

test("names, logs, errors and actions of hostile code are only text", async () => {
  await newAgency("evil");
  await deploy("evil", "mallory", attacker, { description: hostile, manifest: { displayName: hostile } });
  const { page, pageErrors } = await openAddress("/app/evil/~packages", phone);
  const expectText = async () => {
    await page.getByText("onerror=").first().waitFor();
    expect(await page.locator("main").innerText()).not.toMatch(/\u202e|[^\P{Cc}\n\t]/u);
    expect(await page.locator("main img").count()).toBe(0);
    expect(await page.evaluate(() => "hacked" in window)).toBe(false);
    expect(await readWidth(page)).toBeLessThanOrEqual(390);
  };
  await expectText();
  await page.goto(`${host.url}/app/evil/~packages/mallory`);
  await page.getByText("peek").waitFor();
  await expectText();
  await page.goto(`${host.url}/app/evil/mallory/settings`);
  await expectText();
  await page.goto(`${host.url}/app/evil/mallory`);
  await say(page, "fail");
  await page.locator(".entry-error").waitFor();
  await expectText();
  await say(page, "act");
  await page.locator(".activity-action").waitFor();
  await expectText();
  await page.goto(`${host.url}/app/evil/mallory/code`);
  await page.getByRole("region", { name: "Last error" }).waitFor();
  await page.locator(".log-text").first().waitFor();
  await expectText();
  expect(pageErrors).toEqual([]);
});

const worker = `{
  async onMessage({ content }, ctx) {
    const reply = ctx.reply();
    void reply.thinking("Where could it be?");
    await reply.action("search_knowledge", { limit: 3, query: "tides of Hamburg" });
    if (content === "done") return;
    await new Promise((resolve) => ctx.signal.addEventListener("abort", resolve));
  },
}`;

test("a conversation shows what the code does and thinks, until the turn ends", async () => {
  await newAgency("acts");
  await deploy("acts", "worker", worker);
  const { page, pageErrors } = await openAddress("/app/acts/worker");
  await findIdleStatus(page).waitFor();
  await say(page, "Search");
  const activity = page.locator(".activity");
  await activity.getByText("search_knowledge").waitFor();
  await activity.getByText("tides of Hamburg").waitFor();
  await page.locator(".status-line", { hasText: "search_knowledge" }).waitFor();
  expect(await activity.getByText("Where could it be?").isVisible()).toBe(false);
  await activity.getByText("Thinking…").click();
  await activity.getByText("Where could it be?").waitFor();
  await shoot(page, "activity");
  await page.getByRole("button", { name: "Cancel" }).click();
  await findIdleStatus(page).waitFor();
  expect(await activity.count()).toBe(0);
  await say(page, "done");
  await findText(page, "done").waitFor();
  await findIdleStatus(page).waitFor();
  expect(await activity.count()).toBe(0);
  expect(pageErrors).toEqual([]);
});

const library = `{
  tools: { find: { description: "Finds a book.", parameters: { title: { type: "string" } }, execute: ({ title }) => "shelf of " + title } },
  async onMessage(message, ctx) { await ctx.send("Ask me by tool."); },
}`;

const reader = `{
  async onMessage(message, ctx) {
    const shelf = await ctx.tools.execute("library__find", { title: "Emma" });
    await ctx.send("It is on the " + shelf);
  },
}`;

test("a tool that the code calls before it says anything is shown without an empty text", async () => {
  await newAgency("books");
  await deploy("books", "library", library);
  await deploy("books", "reader", reader, { manifest: { capabilities: ["tools"] } });
  const { page, pageErrors } = await openAddress("/app/books/reader");
  await findIdleStatus(page).waitFor();
  await say(page, "Where is it?");
  await findText(page, "It is on the shelf of Emma").waitFor();
  const expectEntries = async () => {
    const call = page.locator('.entry[data-role="assistant"]', { has: page.locator(".call") });
    await call.getByText("library__find").waitFor();
    expect(await call.locator(".formatted-text").count()).toBe(0);
    expect(await page.locator(".chat-facts .mono").count()).toBe(0);
  };
  await expectEntries();
  await page.reload();
  await findText(page, "It is on the shelf of Emma").waitFor();
  await expectEntries();
  await shoot(page, "tool");
  expect(pageErrors).toEqual([]);
});

test("a read-only login only looks, and agents without code of a user have no such tabs", async () => {
  await newAgency("looks");
  await deploy("looks", "dial", adjustable(10), { manifest: { displayName: "A dial", capabilities: ["fs"] } });
  await deploy("looks", "dial", greeter(2), { manifest: { displayName: "A dial" } });
  await host.client.call("createAgent", { params: { agency: "looks" }, body: { name: "alice" } });
  const { page, pageErrors } = await openAddress("/app/looks/~packages/dial", { ...phone, colorScheme: "dark" }, [
    "read",
  ]);
  await findVersion(page, 2).getByText("No longer asked for: fs").waitFor();
  expect(await page.locator("main").getByRole("button").count()).toBe(0);
  await shoot(page, "phone-package");
  await page.getByRole("link", { name: "dial", exact: true }).click();
  await page.getByRole("link", { name: "Settings" }).click();
  await page.getByText("You have read-only access.").waitFor();
  await page.getByText("Hello default").waitFor();
  expect(await page.locator("main input").count()).toBe(0);
  await page.getByRole("link", { name: "Code" }).click();
  await page.getByRole("log", { name: "Log" }).waitFor();
  await shoot(page, "phone-code");
  expect(await readWidth(page)).toBeLessThanOrEqual(390);

  await page.goto(`${host.url}/app/looks/alice/code`);
  await page.getByText("alice has no view “Code”").waitFor();
  expect(await page.getByRole("link", { name: "Code" }).count()).toBe(0);
  expect(pageErrors).toEqual([]);
});
