import { mkdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Approval } from "@thinkery/sdk";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { openBrowser, openPage } from "../kit/browser.ts";
import { findIdleStatus, findText, say } from "../kit/chat.ts";
import { waitUntil } from "../kit/wait-until.ts";
import { waitingScript } from "../kit/waiting-script.ts";
import { openTestbed, type Testbed, type TestAgent } from "../kit/worker/testbed.ts";

// What waits for a person on the page: the inbox over all agents, and approvals and questions in a conversation.

const screenshots = fileURLToPath(new URL("../../test-output/page/", import.meta.url));
const phone = { viewport: { width: 390, height: 780 }, hasTouch: true, isMobile: true };
const file = "import x from 'x';\n\nconst limit = 10;\nexport { limit };\n";
let testbed: Testbed;
let browser: Browser;

beforeAll(async () => {
  mkdirSync(screenshots, { recursive: true });
  [testbed, browser] = await Promise.all([
    openTestbed({
      config: { maxFailuresPerMinute: 1000, turn: { heartbeatSeconds: 1 } },
      scripts: {
        default: waitingScript,
      },
    }),
    openBrowser(),
  ]);
}, 60_000);

afterAll(async () => {
  await browser?.close();
  await testbed?.stop();
});

async function openAddress(path: string, options: Parameters<typeof openPage>[1] = {}, scopes?: "read"[]) {
  const opened = await openPage(browser, { viewport: { width: 1280, height: 900 }, ...options });
  onTestFinished(() => opened.context.close());
  const { url, client } = testbed.host();
  const { code } = await client.call("createLoginCode", scopes ? { body: { scopes } } : {});
  await opened.page.goto(`${url}/#code=${code}`);
  await opened.page.getByRole("heading", { name: "Welcome" }).waitFor();
  await opened.page.goto(url + path);
  return opened;
}

const config = { hitl: { tools: ["writeFile", "editFile", "bash"] }, models: { fast: "scripted:default" } };

async function newAgent(name: string): Promise<TestAgent> {
  const blueprint = await testbed.newBlueprint({ model: "scripted:default", config });
  return testbed.newAgent({ name, blueprint });
}

async function ask(agent: TestAgent, message: string): Promise<string> {
  const { runId } = await agent.invoke({ message });
  await waitUntil("the pause", async () => (await agent.run()).status === "paused");
  return runId;
}

async function getResult(agent: TestAgent, runId: string): Promise<string> {
  const end = await agent.waitForEnd(runId);
  return end.type === "agent.completed" ? end.data.result : JSON.stringify(end.data);
}

const findEntry = (page: Page, agent: string) =>
  page.locator(".inbox-entry", { has: page.getByRole("link", { name: agent, exact: true }) });
const hasNoOverflow = (page: Page) =>
  page.evaluate(() => document.documentElement.scrollWidth <= document.documentElement.clientWidth);
const shoot = (page: Page, name: string) =>
  page.screenshot({ path: `${screenshots}approvals-${name}.png`, fullPage: true });

test("without anything to answer, the inbox says how agents come to ask", async () => {
  const { page, pageErrors } = await openAddress("/app");
  const link = page.getByRole("link", { name: /^Inbox/ });
  expect(await link.textContent()).toBe("Inbox");
  await link.click();
  await page.getByText("Nothing waits for you").waitFor();
  expect(new URL(page.url()).pathname).toBe("/app/~inbox");
  await page.getByText("thinkery approval ls").waitFor();
  await shoot(page, "empty");
  expect(await page.title()).toBe("Inbox · Thinkery");
  expect(pageErrors).toEqual([]);
});

test("a person approves an edited call on a phone, and the turn finishes", async () => {
  const alice = await newAgent("alice");
  await testbed.api(`${alice.at}/files`, "POST", { edits: [{ write: "a.ts", content: file }] });
  const runId = await ask(alice, "fix");
  const { page, pageErrors } = await openAddress("/app/global/alice", phone);
  await page.locator(".topbar-inbox", { hasText: "1" }).click();
  const entry = findEntry(page, "alice");
  await entry.locator('tr[data-kind="removed"]', { hasText: "const limit = 10;" }).waitFor();
  await entry.locator('tr[data-kind="added"]', { hasText: "const limit = 100;" }).waitFor();
  await entry.getByText(/editFile needs approval/).waitFor();
  await shoot(page, "phone");
  await entry.getByRole("button", { name: "Edit input" }).click();
  await entry.getByLabel("newString").fill("const limit = 50;");
  await shoot(page, "phone-edit");
  // Switching keeps what was changed.
  await entry.getByRole("button", { name: "Edit as JSON" }).click();
  const json = entry.getByLabel("Input as JSON");
  const text = await json.inputValue();
  await json.fill("{");
  await entry.getByRole("button", { name: "Approve with changes" }).click();
  await entry.getByText(/^This is not JSON/).waitFor();
  await json.fill(text);
  await entry.getByRole("button", { name: "Edit as fields" }).click();
  expect(await entry.getByLabel("newString").inputValue()).toBe("const limit = 50;");
  expect(await hasNoOverflow(page)).toBe(true);
  const sent = page.waitForRequest(/\/approve$/);
  await entry.getByRole("button", { name: "Approve with changes" }).click();
  // The digest says which calls the person saw.
  expect((await sent).postDataJSON()).toMatchObject({
    digest: expect.stringMatching(/^[0-9a-f]{64}$/),
    approved: true,
  });
  await entry.locator(".outcome", { hasText: "Approved by owner" }).waitFor();
  expect(await getResult(alice, runId)).toMatch(/^Heard: /);
  expect((await testbed.api(`${alice.at}/files/a.ts`)).body).toContain("const limit = 50;");
  await page.locator(".topbar-inbox").waitFor({ state: "detached" });
  expect(pageErrors).toEqual([]);
}, 60_000);

test("the keys y, n and e work on the item with the focus, and not while typing", async () => {
  const [bob, berta, bill] = [await newAgent("bob"), await newAgent("berta"), await newAgent("bill")];
  const { page, pageErrors } = await openAddress("/app/~inbox");
  const first = await ask(bob, "write");
  const second = await ask(berta, "write");
  const third = await ask(bill, "run");
  await findEntry(page, "bill").waitFor();
  const count = page.locator(".sidebar-link", { hasText: "Inbox" }).locator(".inbox-count");
  await count.filter({ hasText: /^3 waiting$/ }).waitFor();
  await waitUntil("the title", async () => (await page.title()) === "(3) Inbox · Thinkery");
  await shoot(page, "inbox");
  // Nothing has the focus.
  await page.keyboard.press("y");
  const panel = findEntry(page, "bob").locator(".approval");
  await panel.focus();
  await page.keyboard.press("Control+y");
  await page.keyboard.press("e");
  await page.waitForFunction(() => document.activeElement?.tagName === "INPUT");
  await page.keyboard.type("y");
  expect(await findEntry(page, "bob").getByLabel("path").inputValue()).toBe("notes.mdy");
  await page.keyboard.press("Escape");
  await findEntry(page, "bob").locator("tr", { hasText: "The cache was full." }).waitFor();
  await page.keyboard.press("y");
  await findEntry(page, "bob").locator(".outcome", { hasText: "Approved by owner" }).waitFor();
  expect(await getResult(bob, first)).toMatch(/^Heard: Created notes\.md/);

  // The focus is on the next item.
  await page.waitForFunction(() => document.activeElement?.classList.contains("approval"));
  await page.keyboard.press("n");
  await page.waitForFunction(() => document.activeElement?.tagName === "TEXTAREA");
  await page.keyboard.type("Not any more.");
  await shoot(page, "deny");
  await page.keyboard.press("Enter");
  await findEntry(page, "berta").locator(".outcome", { hasText: "Denied by owner: Not any more." }).waitFor();
  expect(await getResult(berta, second)).toMatch(/denied this call of writeFile.*Not any more\./);
  await shoot(page, "answered");
  // Only those that were answered here are decided.
  expect((await bill.run()).status).toBe("paused");
  expect(third).not.toBe(second);
  await bill.cancel();
  await findEntry(page, "bill").locator(".outcome", { hasText: "Expired" }).waitFor();
  expect(pageErrors).toEqual([]);
}, 60_000);

test("of two tabs one answers: the other shows who did, and a late answer is explained", async () => {
  const carl = await newAgent("carl");
  const runId = await ask(carl, "both");
  const { page, pageErrors } = await openAddress("/app/~inbox");
  const { page: other } = await openAddress("/app/~inbox");
  const { page: chat } = await openAddress("/app/global/carl");
  for (const one of [page, other]) await findEntry(one, "carl").waitFor();
  await chat.locator(".approval").waitFor();
  await shoot(chat, "chat");
  // One call is denied: everybody sees it, and the other call still waits.
  const calls = findEntry(page, "carl").locator(".asked-call");
  await calls.first().getByRole("button", { name: "Deny this" }).click();
  await findEntry(page, "carl")
    .getByLabel(/^Reason/)
    .fill("It exists.");
  await findEntry(page, "carl").getByRole("button", { name: "Deny", exact: true }).click();
  for (const one of [page, other, chat])
    await one.locator(".asked-decision", { hasText: "Denied: It exists." }).waitFor();

  await findEntry(page, "carl").getByRole("button", { name: "Approve", exact: true }).click();
  await findEntry(page, "carl").locator(".outcome", { hasText: "1 of 2 calls approved by owner" }).waitFor();
  await findEntry(other, "carl").locator(".outcome", { hasText: "1 of 2 calls approved by owner" }).waitFor();
  await chat.locator(".approval").waitFor({ state: "detached" });
  expect(await getResult(carl, runId)).toMatch(/denied this call of writeFile.* \| /);

  const late = await ask(carl, "write");
  const button = findEntry(page, "carl").getByRole("button", { name: /^Approve/ });
  await button.waitFor();
  // It answers while this tab's click is on its way.
  await page.route("**/approve", async (route) => {
    await testbed.api(`${carl.at}/approve`, "POST", { approved: false, reason: "No." });
    await route.continue();
  });
  await button.click();
  await page.getByText(/The approval was already answered by owner: denied\. Your answer was not used\./).waitFor();
  await page.locator(".outcome", { hasText: "Denied by owner: No." }).waitFor();
  await shoot(page, "late");
  expect(await getResult(carl, late)).toMatch(/denied this call/);
  expect(pageErrors).toEqual([]);
}, 60_000);

test("what is remembered is said exactly, and calls like it are not asked about again", async () => {
  const dan = await newAgent("dan");
  await ask(dan, "run");
  const { page, pageErrors } = await openAddress("/app/global/dan");
  const panel = page.locator(".approval");
  await panel.getByLabel("Remember").selectOption("agent");
  await panel.getByText("dan and its sub-agents may make:").waitFor();
  expect(await panel.locator(".remember li").allTextContents()).toEqual(["calls of bash that match rm *"]);
  await shoot(page, "remember");
  await panel.getByRole("button", { name: /^Edit/ }).click();
  expect(await panel.locator(".remember li").allTextContents()).toEqual(["calls of bash that match rm *"]);
  await panel.getByLabel("command").fill("ls");
  await panel.getByText("Calls that you changed are approved once.").waitFor();
  await dan.cancel();
  await panel.waitFor({ state: "detached" });

  const runId = await ask(dan, "write");
  await panel.getByLabel("Remember").selectOption("always");
  await panel.getByText("all agents in global may make:").waitFor();
  expect(await panel.locator(".remember li").allTextContents()).toEqual([
    "every call of writeFile, whatever its input",
  ]);
  await panel.getByRole("button", { name: /^Approve/ }).click();
  expect(await getResult(dan, runId)).toMatch(/^Heard: Created/);
  const { body } = await testbed.api("/agency/global/grants");
  expect(body.grants).toMatchObject([{ tool: "writeFile", by: "owner" }]);
  expect(body.grants[0]).not.toHaveProperty("match");
  const again = await dan.invoke({ message: "write" });
  expect(await getResult(dan, again.runId)).toMatch(/^Heard: /);
  await testbed.api(`/agency/global/grants/${body.grants[0].id}`, "DELETE");
  expect(pageErrors).toEqual([]);
}, 60_000);

test("a person answers in the tool's place, and what a model wrote is inert and visible", async () => {
  const erna = await newAgent("erna");
  const runId = await ask(erna, "hostile");
  const { page, pageErrors } = await openAddress("/app/global/erna");
  const panel = page.locator(".approval");
  // Hidden characters are shown, so that nothing runs that cannot be seen.
  await panel.getByText('</pre><img src=x onerror="window.owned=1">\ufffd\ufffdgnp.exe').waitFor();
  await panel.locator("summary", { hasText: "Input" }).click();
  expect(await panel.locator(".asked-input pre").textContent()).toContain("\ufffd\ufffdgnp.exe");
  await panel.getByRole("button", { name: "Answer in its place" }).click();
  await panel.getByLabel("Result").fill("I did it myself.");
  expect(await panel.getByLabel("Remember").count()).toBe(0);
  await panel.getByRole("button", { name: /^Send as the result/ }).click();
  await findText(page, "I did it myself.", true).first().waitFor();
  expect(await getResult(erna, runId)).toBe("I did it myself.");
  expect(await page.evaluate(() => "owned" in window)).toBe(false);
  expect(pageErrors).toEqual([]);
});

test("a question is answered in a form drawn from its schema; wrong answers keep what was entered", async () => {
  const fay = await newAgent("fay");
  const runId = await ask(fay, "form");
  const { page, pageErrors } = await openAddress("/app/global/fay");
  const form = page.locator(".question");
  await form.getByText("Tell me about the project </pre><img").waitFor();
  await form.getByRole("button", { name: "Answer" }).click();
  await waitUntil("the issues", async () => (await form.locator(".field-error").count()) === 5);
  // The first field with an issue has the focus.
  await form.locator("input[aria-invalid]:focus").first().waitFor();
  expect(await form.getByLabel("Project name").evaluate((field) => field === document.activeElement)).toBe(true);
  await shoot(page, "form-issues");
  await form.getByLabel("Project name").fill("Thinkery");
  await form.getByLabel("stars").fill("9");
  await form.getByLabel("Yes").check();
  await form.getByLabel("Apache-2.0").check();
  await form.getByLabel("country").selectOption("AT");
  await form.getByLabel("linux").check();
  await form.getByLabel("windows").check();
  await form.getByLabel("email").fill("me");
  await form.getByLabel("labels").fill('["a"]');
  await form.getByRole("button", { name: "Answer" }).click();
  // The host checks the rest, and its messages are at the fields they are about.
  const findField = (label: string) => form.locator(".field", { has: page.getByLabel(label) });
  await findField("stars").locator(".field-error", { hasText: "<=5" }).waitFor();
  await findField("email").locator(".field-error").waitFor();
  expect(await form.getByLabel("Project name").inputValue()).toBe("Thinkery");
  await form.getByLabel("stars").fill("5");
  await form.getByLabel("email").fill("me@example.com");
  await shoot(page, "form");
  await form.getByRole("button", { name: "Answer" }).click();
  await findIdleStatus(page).waitFor();
  expect(JSON.parse((await getResult(fay, runId)).slice("Got ".length))).toEqual({
    name: "Thinkery",
    stars: 5,
    public: true,
    license: "Apache-2.0",
    country: "AT",
    targets: ["linux", "windows"],
    owner: { email: "me@example.com" },
    labels: ["a"],
  });
  expect(await page.evaluate(() => "owned" in window)).toBe(false);
  expect(pageErrors).toEqual([]);
}, 60_000);

test("the composer sends a text as the answer, or as a message; waits for a time are a quiet line", async () => {
  await newAgent("gus");
  const { page, pageErrors } = await openAddress("/app/global/gus", phone);
  await findIdleStatus(page).waitFor();
  await say(page, "ask");
  const card = page.locator('.call[data-kind="question"]');
  await card.getByText("waiting for your answer").waitFor();
  await page.locator(".question").waitFor();
  expect(await page.getByLabel("When to send").inputValue()).toBe("answer");
  await shoot(page, "composer");
  await page.getByLabel("When to send").selectOption("queue");
  await say(page, "hello");
  await page.getByText("Next in queue").waitFor();
  await say(page, "main");
  await findText(page, "I use main.").waitFor();
  await findText(page, "You said: hello").waitFor();
  await card.getByText("answered").waitFor();

  await say(page, "sleep");
  await page.locator('.note[data-note="wait"]', { hasText: /^Waiting until .* \(in (1 h|59 min)\)$/ }).waitFor();
  await page.locator(".status-line", { hasText: /^Waiting until / }).waitFor();
  await shoot(page, "sleep");
  await page.reload();
  await page.locator('.note[data-note="wait"]').waitFor();
  expect(await page.getByText("Turn paused").count()).toBe(0);
  expect(pageErrors).toEqual([]);
}, 60_000);

test("a sub-agent that waits for approval says so in its parent's panel, with the way there", async () => {
  await newAgent("hans");
  const { page, pageErrors } = await openAddress("/app/global/hans");
  await findIdleStatus(page).waitFor();
  await say(page, "delegate");
  const item = page.locator(".subagent-panel li", { hasText: "waiting for approval" });
  await item.waitFor();
  await shoot(page, "subagent");
  await item.getByRole("link", { name: "Review" }).click();
  await page.waitForURL(/\/hans\/~sub\//);
  await page
    .locator(".approval")
    .getByRole("button", { name: /^Approve/ })
    .click();
  await findText(page, "Cleaned.").waitFor();
  await page.locator(".chat-title").getByRole("link", { name: "hans" }).click();
  await findText(page, "Got: Cleaned.").waitFor();
  expect(pageErrors).toEqual([]);
}, 60_000);

test("a read-only login sees what waits, and cannot answer", async () => {
  const [ida, jan] = [await newAgent("ida"), await newAgent("jan")];
  await ask(ida, "write");
  await ask(jan, "ask");
  const { page, pageErrors } = await openAddress("/app/~inbox", {}, ["read"]);
  await findEntry(page, "ida").getByText("takes the scope approve").waitFor();
  await findEntry(page, "ida").locator("tr", { hasText: "The cache was full." }).waitFor();
  await findEntry(page, "jan").getByText("You have read-only access and cannot answer.").waitFor();
  expect(await page.locator(".inbox-entry button").count()).toBe(0);
  await findEntry(page, "ida").locator(".approval").focus();
  await page.keyboard.press("y");
  await page.emulateMedia({ colorScheme: "dark" });
  await shoot(page, "read-only-dark");
  const { body } = await testbed.api(`${ida.at}/approvals?status=pending`);
  expect((body.approvals as Approval[]).length).toBe(1);
  expect(pageErrors).toEqual([]);
});
