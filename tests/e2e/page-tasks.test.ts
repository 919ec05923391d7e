import { mkdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { createLoginLink, openBrowser, openPage } from "../kit/browser.ts";
import { findIdleStatus, say } from "../kit/chat.ts";
import { waitUntil } from "../kit/wait-until.ts";
import { openTestbed, type Testbed } from "../kit/worker/testbed.ts";

// The tasks panel beside the conversation, the cards of the tools, and the view with all tasks.

const screenshots = fileURLToPath(new URL("../../test-output/page/", import.meta.url));
const phone = { viewport: { width: 390, height: 780 }, hasTouch: true };
let testbed: Testbed;
let browser: Browser;

beforeAll(async () => {
  mkdirSync(screenshots, { recursive: true });
  const call = (tool: string, input: object = {}) => ({ call: { tool, input } });
  [testbed, browser] = await Promise.all([
    openTestbed({
      scripts: {
        planner: [
          {
            when: "refactor",
            steps: [
              { text: "I will do this in steps." },
              call("createSubtask", { title: "Read the parser and its tests", type: "explore" }),
              call("createSubtask", {
                title: "Split it into a lexer and a parser",
                description: "Keep the public functions as they are.",
                dependencies: ["{{ results.0.taskId }}"],
              }),
              call("createSubtask", { title: "Move the tokens", parentId: "{{ results.1.taskId }}" }),
              call("createSubtask", {
                title: "Run all tests",
                type: "test",
                dependencies: ["{{ results.1.taskId }}"],
              }),
              call("completeTask", { taskId: "{{ results.0.taskId }}", result: "Two files, 40 tests." }),
              call("completeTask", {
                taskId: "{{ results.1.taskId }}",
                status: "failed",
                error: "A test needs the old name.",
              }),
              call("createSubtask", { title: "x", parentId: "{{ results.2.taskId }}" }),
              call("listTasks"),
              { text: "I need a decision." },
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
});

async function openAgent(path: string, options: Parameters<typeof openPage>[1] = {}) {
  const opened = await openPage(browser, { viewport: { width: 1280, height: 800 }, ...options });
  onTestFinished(() => opened.context.close());
  await opened.page.goto(await createLoginLink(testbed.host()));
  await opened.page.getByRole("heading", { name: "Welcome" }).waitFor();
  await opened.page.goto(`${testbed.host().url}/app/global/${path}`);
  return opened;
}

test("a person sees the tasks of a turn grow beside the conversation, and all tasks in their own view", async () => {
  const { name, invoke, waitForEnd, at } = await testbed.newAgent({ model: "scripted:planner" });
  const { page, pageErrors } = await openAgent(name);
  await findIdleStatus(page).waitFor();
  expect(await page.locator(".task-panel").count()).toBe(0);
  await say(page, "refactor");
  const panel = page.locator(".task-panel");
  await panel.getByText("Run all tests").waitFor();
  await waitUntil("the turn to end", async () => (await page.getByText("I need a decision.").count()) > 0);
  const readPanel = () =>
    panel
      .locator("li")
      .evaluateAll((items) =>
        items.map((item) => `${item.getAttribute("data-status")} ${item.querySelector(".task-title")?.textContent}`),
      );
  const expected = [
    "complete Read the parser and its tests",
    "failed Split it into a lexer and a parser",
    "pending Move the tokens",
    "blocked Run all tests",
  ];
  expect(await readPanel()).toEqual(expected);
  expect(await panel.locator("summary").textContent()).toBe("Tasks 2 of 4");
  const refused = page.locator('.call[data-kind="task"]', { hasText: "refused" });
  await refused.locator("summary").click();
  await refused.getByText(/Tasks can be nested 3 levels deep/).waitFor();
  const list = page.locator('.call[data-kind="task-list"]');
  await list.locator("summary").click();
  await list.locator("li").nth(4).waitFor();
  expect(await list.locator("li").count()).toBe(5);
  await page.screenshot({ path: `${screenshots}tasks-panel.png` });

  await page.reload();
  await panel.getByText("Run all tests").waitFor();
  expect(await readPanel()).toEqual(expected);

  await panel.getByRole("link", { name: "All tasks" }).click();
  const view = page.locator(".tasks");
  await view.getByText("1 of 5 complete").or(view.getByText("2 of 5 complete")).waitFor();
  expect(page.url()).toMatch(/\/tasks$/);
  await page.screenshot({ path: `${screenshots}tasks-view.png` });
  await page.emulateMedia({ colorScheme: "dark" });
  await page.screenshot({ path: `${screenshots}tasks-view-dark.png` });
  await page.emulateMedia({ colorScheme: "light" });

  await view.getByLabel("New task").fill("Ask Alice");
  await view.getByRole("button", { name: "Add" }).click();
  const added = view.locator("li", { hasText: "Ask Alice" }).first();
  await added.getByRole("button", { name: "Complete" }).click();
  await waitUntil("the task to be complete", async () => (await added.getAttribute("data-status")) === "complete");
  // Another client's turn is a task too.
  await waitForEnd((await invoke({ message: "from elsewhere" })).runId);
  await view.getByText("from elsewhere").waitFor();
  await view.getByRole("button", { name: "Archive" }).click();
  await view.getByText("The archive is empty").waitFor();
  const { body } = await testbed.api(`${at}/tasks`);
  expect(body.tasks.map(({ title }: { title: string }) => title)).toContain("Ask Alice");
  expect(pageErrors).toEqual([]);
}, 60_000);

test("a refused change is explained, and the view fits a phone", async () => {
  const { name, at } = await testbed.newAgent({ model: "scripted:planner" });
  const { body: task } = await testbed.api(`${at}/tasks`, "POST", { title: `Long ${"word".repeat(40)}` });
  const { page, pageErrors } = await openAgent(`${name}/tasks`, phone);
  const complete = page.getByRole("button", { name: "Complete" });
  await complete.waitFor();
  // The page has not heard of it: it is loaded, but its socket cannot be told in time.
  await page.route("**/tasks?*", (route) => route.abort());
  await testbed.api(`${at}/tasks/${task.id}`, "PATCH", { status: "cancelled" });
  await complete.click();
  await page.getByText(/is already cancelled/).waitFor();
  await page.screenshot({ path: `${screenshots}tasks-phone.png` });
  const width = await page.evaluate(() => document.documentElement.scrollWidth);
  expect(width).toBeLessThanOrEqual(390);
  expect(pageErrors).toEqual([]);
});
