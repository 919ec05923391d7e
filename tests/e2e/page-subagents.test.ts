import { mkdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { openBrowser, openPage } from "../kit/browser.ts";
import { findIdleStatus, findText, say } from "../kit/chat.ts";
import { waitUntil } from "../kit/wait-until.ts";
import { openTestbed, type Testbed } from "../kit/worker/testbed.ts";

// The panel with an agent's sub-agents, their conversations at any depth, the cards of the tools, and their reports.

const screenshots = fileURLToPath(new URL("../../test-output/page/", import.meta.url));
const phone = { viewport: { width: 390, height: 780 }, hasTouch: true };
let testbed: Testbed;
let browser: Browser;
/** Lets a sub-agent go on that rings with this id. */
const release = new Map<string, () => void>();

beforeAll(async () => {
  mkdirSync(screenshots, { recursive: true });
  const call = (tool: string, input: object = {}) => ({ call: { tool, input } });
  const ring = (id: string) => call("ring_again", { bell: "BELL", id });
  const delegate = (index: number, description: string) =>
    call("delegateToSubagent", { taskId: `{{ results.${index}.taskId }}`, description });
  const fork = (description: string, check?: string) => ({
    tool: "task",
    input: { description, workspace: "fork", ...(check ? { check } : {}) },
  });
  [testbed, browser] = await Promise.all([
    openTestbed({
      config: { model: "scripted:default", models: { fast: "scripted:fast" }, turn: { heartbeatSeconds: 1 } },
      scripts: {
        default: [
          {
            when: "/^investigate$/",
            steps: [
              { text: "Two sub-agents can look into this at the same time." },
              call("createSubtask", { title: "Read the log", type: "explore" }),
              call("createSubtask", { title: "Run the tests", type: "test" }),
              delegate(0, "Find out when the errors began."),
              delegate(1, "Say which of them fail."),
              call("checkSubagentStatus", { taskId: "{{ results.0.taskId }}" }),
              { text: "They work on it." },
            ],
          },
          {
            when: "/^nest$/",
            steps: [call("task", { description: "Pass it on" }), { text: "Got: {{ results.0 }}" }],
          },
          {
            when: "/^leave$/",
            steps: [call("task", { description: "Leave it to another" }), { text: "Got: {{ results.0 }}" }],
          },
          {
            when: "/^stream$/",
            steps: [call("task", { description: "Think aloud", streaming: true }), { text: "Got: {{ results.0 }}" }],
          },
          {
            when: "/^refactor$/",
            steps: [
              call("writeFile", { path: "a.ts", content: "1\n" }),
              { calls: [fork("Improve a.ts"), fork("Check b.ts", "grep -q 2 b.ts; echo looked; exit 4")] },
              { text: "Both have finished." },
            ],
          },
          { steps: [{ text: "You said: {{ message }}" }] },
        ],
        fast: [
          {
            when: "/^Think aloud$/",
            steps: [{ text: "Let me look at the <b>cache</b>." }, ring("aloud"), { text: "It was full." }],
          },
          {
            when: "/^Improve a.ts$/",
            steps: [
              call("readFile", { path: "a.ts" }),
              call("editFile", { path: "a.ts", oldString: "1", newString: "2" }),
              ring("fork"),
              { text: "Improved." },
            ],
          },
          {
            when: "/^Check b.ts$/",
            steps: [call("writeFile", { path: "b.ts", content: "2\n" }), { text: "Written." }],
          },
          {
            when: "Read the log",
            steps: [
              call("writeFile", { path: "log.md", content: "x\n" }),
              ring("log"),
              { text: "The errors began at noon.\n\nThe cache was full." },
            ],
          },
          { when: "Run the tests", steps: [ring("tests"), { text: "All pass." }] },
          {
            when: "/^Pass it on$/",
            steps: [call("task", { description: "Say hello" }), { text: "{{ results.0 }}, it said." }],
          },
          {
            when: "/^Leave it/",
            steps: [call("createSubtask", { title: "Wave" }), delegate(0, "Wave to them"), { text: "I left it." }],
          },
          { when: "Wave", steps: [ring("wave"), { text: "Waved" }] },
          { when: "/^Say hello$/", steps: [ring("hello"), { text: "Hello" }] },
        ],
      },
    }),
    openBrowser(),
  ]);
  testbed.bell.onRing = ({ id }) => new Promise<void>((resolve) => release.set(id, resolve));
});

afterAll(async () => {
  await browser?.close();
  await testbed?.stop();
});

async function openAgent(path: string, options: Parameters<typeof openPage>[1] = {}, isReadOnly = false) {
  const opened = await openPage(browser, { viewport: { width: 1280, height: 800 }, ...options });
  onTestFinished(() => opened.context.close());
  const { url, client } = testbed.host();
  const { code } = await client.call("createLoginCode", isReadOnly ? { body: { scopes: ["read"] } } : {});
  await opened.page.goto(`${url}/#code=${code}`);
  await opened.page.getByRole("heading", { name: "Welcome" }).waitFor();
  await opened.page.goto(`${url}/app/global/${path}`);
  return opened;
}

const findPanel = (page: Page) => page.locator(".subagent-panel");
const findItem = (page: Page, title: string, status: string) =>
  findPanel(page).locator(`li[data-status="${status}"]`, { hasText: title });
const findInTree = (page: Page, title: string, status: string) =>
  page.locator(`.tree .tree-link[data-status="${status}"]`, { hasText: title });
const letGoOn = async (id: string) => (await waitUntil(`the ring ${id}`, () => release.get(id)))();

test("a person follows two sub-agents, opens one, cancels the other, and sees their reports arrive", async () => {
  const { name } = await testbed.newAgent({ name: "alice" });
  const { page, pageErrors } = await openAgent(name);
  await findIdleStatus(page).waitFor();
  expect(await findPanel(page).count()).toBe(0);
  await say(page, "investigate");
  await findItem(page, "Run the tests", "running").waitFor();
  await findItem(page, "Read the log", "running")
    .getByText(/^writeFile .*log\.md/)
    .waitFor();
  await findText(page, "They work on it.").waitFor();
  // What it has spent is known while it works, and its time counts up.
  const facts = findItem(page, "Read the log", "running").locator(".subagent-facts");
  await facts.getByText(/^[1-9]\d* s · [\d.]+k tokens · \$0$/).waitFor();
  expect(await findPanel(page).locator("summary").textContent()).toBe("Sub-agents 2 of 2 working");
  const delegation = page.locator('.call[data-kind="delegation"]').first();
  await delegation.locator("summary").click();
  await delegation.locator("pre", { hasText: "Find out when the errors began." }).waitFor();
  await delegation.getByRole("link", { name: "Read the log" }).waitFor();
  await findInTree(page, "Read the log", "running").waitFor();
  await page.screenshot({ path: `${screenshots}subagents-panel.png` });

  await findItem(page, "Read the log", "running").getByRole("link", { name: "Read the log" }).click();
  await page.waitForURL(/\/app\/global\/alice\/~sub\/subagent-task-\w+$/);
  const log = page.getByRole("log", { name: /^Conversation with subagent-task-/ });
  const assignment = log.locator('.entry[data-role="user"]');
  await assignment.getByText("Find out when the errors began.").waitFor();
  expect(await assignment.locator(".entry-who").textContent()).toMatch(/^alice/);
  expect(await log.getByText("They work on it.").count()).toBe(0);
  await letGoOn("log");
  await log.getByText("The cache was full.").waitFor();
  await findInTree(page, "Read the log", "complete").and(page.locator('[aria-current="page"]')).waitFor();
  await page.screenshot({ path: `${screenshots}subagents-child.png` });
  // The files are those of the agent at the top.
  await page.getByRole("link", { name: "Files" }).click();
  await page.getByText("log.md").first().waitFor();
  await page.reload();
  await page.getByText("log.md").first().waitFor();

  await page.locator(".chat-title").getByRole("link", { name: "alice" }).click();
  await findItem(page, "Read the log", "complete").getByText("The errors began at noon.").waitFor();
  await facts.waitFor({ state: "detached" });
  await findItem(page, "Read the log", "complete")
    .getByText(/^\d+ s · [\d.]+k tokens · \$0$/)
    .waitFor();
  const { page: readOnly } = await openAgent(name, {}, true);
  await findItem(readOnly, "Run the tests", "running").waitFor();
  expect(await readOnly.getByRole("button", { name: /^Cancel / }).count()).toBe(0);
  await page.getByRole("button", { name: "Cancel Run the tests" }).click();
  await findItem(readOnly, "Run the tests", "cancelled").waitFor();
  await findItem(page, "Run the tests", "cancelled").waitFor();
  expect(await page.getByRole("button", { name: /^Cancel / }).count()).toBe(0);

  await findInTree(page, "Run the tests", "cancelled").click();
  await page.getByRole("log", { name: /^Conversation with subagent-task-/ }).waitFor();
  await page.locator(".tree").getByRole("link", { name: "alice", exact: true }).click();
  await say(page, "and now?");
  await findText(page, "You said: and now?").waitFor();
  const notice = page.locator('.note[data-note="report"]');
  const readNotice = () =>
    notice.locator(".report").evaluateAll((reports) => reports.map(({ textContent }) => textContent));
  const expected = [
    expect.stringMatching(/^Report of Read the log .*complete.*The errors began at noon\./),
    expect.stringMatching(/^Report of Run the tests .*cancelled/),
  ];
  expect(await readNotice()).toEqual(expected);
  expect(await page.locator(".entry", { hasText: "subagent_report" }).count()).toBe(0);
  await page.screenshot({ path: `${screenshots}subagents-report.png` });
  await page.reload();
  await notice.waitFor();
  await findItem(page, "Run the tests", "cancelled").waitFor();
  expect(await readNotice()).toEqual(expected);
  await page.emulateMedia({ colorScheme: "dark" });
  await page.screenshot({ path: `${screenshots}subagents-report-dark.png` });
  // The report of a deleted sub-agent stays; its conversation is gone, and so is the way to it.
  const href = await findItem(page, "Read the log", "complete").getByRole("link").getAttribute("href");
  expect((await testbed.api(`/agents/alice/sub/${href?.split("/").at(-1)}`, "DELETE")).status).toBe(204);
  await findItem(page, "Read the log", "complete").getByRole("link").waitFor({ state: "detached" });
  await findInTree(page, "Read the log", "complete").waitFor({ state: "detached" });
  expect(pageErrors).toEqual([]);
}, 60_000);

test("sub-agents of sub-agents have addresses too, and a phone shows them", async () => {
  const { name, invoke } = await testbed.newAgent({ name: "bob" });
  await invoke({ message: "nest" });
  const { page, pageErrors } = await openAgent(name, phone);
  await findPanel(page).locator("summary").click();
  await findItem(page, "Pass it on", "running").getByRole("link").click();
  await findPanel(page).locator("summary").click();
  await page.screenshot({ path: `${screenshots}subagents-phone.png` });
  await findItem(page, "Say hello", "running").getByRole("link").click();
  await page.waitForURL(/\/bob\/~sub\/subagent-[\w-]+\/~sub\/subagent-[\w-]+$/);
  // A deep link works on its own.
  await page.reload();
  await letGoOn("hello");
  await findText(page, "Hello", true).waitFor();
  const width = await page.evaluate(() => document.documentElement.scrollWidth);
  expect(width).toBeLessThanOrEqual(390);

  const findParentLink = () => page.locator(".chat-title").getByRole("link").first();
  await findParentLink().click();
  await findText(page, "Hello, it said.").waitFor();
  await findParentLink().click();
  await findText(page, "Got: Hello, it said.").waitFor();
  const card = page.locator('.call[data-kind="delegation"]');
  await card.locator("summary").click();
  await card.locator("pre", { hasText: "Hello, it said." }).waitFor();
  await page.goto(`${testbed.host().url}/app/global/bob/~sub/subagent-none`);
  await page.getByRole("heading", { name: "Sub-agent “subagent-none” not found" }).waitFor();
  expect(pageErrors).toEqual([]);
}, 60_000);

test("cancelling one whose own turn is over ends those that it waits for", async () => {
  const { name, invoke, at } = await testbed.newAgent({ name: "dora" });
  const { page, pageErrors } = await openAgent(name);
  await findIdleStatus(page).waitFor();
  await invoke({ message: "leave" });
  await waitUntil("the ring", () => release.get("wave"));
  const [{ facetName }] = (await testbed.api(`${at}/subagents`)).body.subagents;
  const child = `${at}/sub/${facetName}`;
  await waitUntil("the end of its turn", async () => {
    return (await testbed.api(`${child}/state`)).body.run.status === "completed";
  });
  await page.getByRole("button", { name: "Cancel Leave it to another" }).click();
  await page.getByRole("status").getByText("Sub-agent “Leave it to another” canceled.").waitFor();
  await findItem(page, "Leave it to another", "cancelled").waitFor();
  await findText(page, "Got: The sub-agent was cancelled.").waitFor();
  expect((await testbed.api(`${child}/subagents`)).body.subagents).toMatchObject([{ status: "cancelled" }]);
  expect(pageErrors).toEqual([]);
});

test("the panel shows live what a sub-agent that streams writes, and the tool it calls", async () => {
  const { name } = await testbed.newAgent({ name: "stella" });
  const { page, pageErrors } = await openAgent(name);
  await findIdleStatus(page).waitFor();
  await say(page, "stream");
  const item = findItem(page, "Think aloud", "running");
  await item.locator(".subagent-text", { hasText: "Let me look at the <b>cache</b>." }).waitFor();
  await item.locator(".subagent-work", { hasText: /^ring_again .*"id":"aloud"/ }).waitFor();
  await page.screenshot({ path: `${screenshots}subagents-stream.png` });
  await letGoOn("aloud");
  const ended = findItem(page, "Think aloud", "complete");
  await ended.locator(".subagent-work", { hasText: "It was full." }).waitFor();
  expect(await ended.locator(".subagent-text").count()).toBe(0);
  expect(pageErrors).toEqual([]);
});

test("a person sees the branches of forks, where they overlap, and why one was not merged", async () => {
  const { name, invoke, at } = await testbed.newAgent({ name: "carol" });
  const { page, pageErrors } = await openAgent(name);
  await findIdleStatus(page).waitFor();
  await invoke({ message: "refactor" });
  await findItem(page, "Improve a.ts", "running")
    .getByText(/^On branch subagent-task-/)
    .waitFor();
  // The person changes the same line meanwhile.
  await waitUntil("the ring", () => release.get("fork"));
  await testbed.api(`${at}/files`, "POST", { edits: [{ write: "a.ts", content: "3\n" }] });
  await letGoOn("fork");
  await findText(page, "Both have finished.").waitFor();
  const merged = findItem(page, "Improve a.ts", "complete").locator(".merge");
  await merged.getByText("Merged 1 file: a.ts").waitFor();
  await merged.getByText("1 overlap").click();
  await merged.getByText("a.ts, line 1").waitFor();
  const unmerged = findItem(page, "Check b.ts", "complete").locator(".merge");
  await unmerged
    .getByText(/^On branch subagent-task-\w+, not merged: the check .* failed \(exit code 4\)\.$/)
    .waitFor();
  await unmerged.getByText("Output of the check").click();
  await unmerged.locator("pre", { hasText: "looked" }).waitFor();
  await page.screenshot({ path: `${screenshots}subagents-merge.png` });
  const card = page.locator('.call[data-kind="delegation"]').last();
  await card.locator("summary").first().click();
  await card.locator(".merge-failure").waitFor();
  // The branch is a link to its files.
  await unmerged.getByRole("link", { name: /^subagent-task-/ }).click();
  await page.waitForURL(/\/app\/global\/carol\/files\?branch=subagent-task-\w+$/);
  await page.getByText("b.ts").first().waitFor();
  await page.goBack();
  await page.reload();
  await merged.getByText("Merged 1 file: a.ts").waitFor();
  await unmerged.locator(".merge-failure").waitFor();
  expect(pageErrors).toEqual([]);
}, 60_000);
