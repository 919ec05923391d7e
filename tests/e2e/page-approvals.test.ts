import { mkdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Approval } from "@thinkery/sdk";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { openBrowser, openPage } from "../kit/browser.ts";
import { findIdleStatus, findText, say } from "../kit/chat.ts";
import { waitUntil } from "../kit/wait-until.ts";
import { openTestbed, type Testbed, type TestAgent } from "../kit/worker/testbed.ts";

// What waits for a person on the page: the inbox over all agents, and approvals and questions in a conversation.

const screenshots = fileURLToPath(new URL("../../test-output/page/", import.meta.url));
const phone = { viewport: { width: 390, height: 780 }, hasTouch: true, isMobile: true };
const hostile = '</pre><img src=x onerror="window.owned=1">\u202e\u200bgnp.exe';
let testbed: Testbed;
let browser: Browser;

const call = (tool: string, input: object = {}) => ({ call: { tool, input } });
const profile = {
  type: "object",
  properties: {
    name: { type: "string", title: "Project name", description: "Shown to <b>everyone</b>.", maxLength: 40 },
    notes: { type: "string", maxLength: 2000 },
    stars: { type: "integer", minimum: 1, maximum: 5 },
    budget: { type: "number" },
    public: { type: "boolean" },
    license: { enum: ["MIT", "Apache-2.0", "none"] },
    country: { enum: ["AT", "BE", "CH", "DE", "ES", "FR", "IT"] },
    targets: { type: "array", items: { enum: ["linux", "mac", "windows"] } },
    owner: { type: "object", properties: { email: { type: "string", pattern: "@" } }, required: ["email"] },
    labels: { type: "array", items: { type: "string" } },
  },
  required: ["name", "stars", "public", "license", "targets", "owner"],
  additionalProperties: false,
};

beforeAll(async () => {
  mkdirSync(screenshots, { recursive: true });
  [testbed, browser] = await Promise.all([
    openTestbed({
      config: { maxFailuresPerMinute: 1000, turn: { heartbeatSeconds: 1 } },
      scripts: {
        default: [
          {
            when: "/^write$/",
            steps: [
              { text: "I will note it down." },
              call("writeFile", { path: "notes.md", content: "# Notes\n\nThe cache was full.\n" }),
              { text: "Heard: {{ results.0 }}" },
            ],
          },
          {
            when: "/^fix$/",
            steps: [
              call("editFile", { path: "a.ts", oldString: "const limit = 10;", newString: "const limit = 100;" }),
              { text: "Heard: {{ results.0 }}" },
            ],
          },
          { when: "/^run$/", steps: [call("bash", { command: "rm -rf build && echo gone" }), { text: "{{ results.0 }}" }] },
          {
            when: "/^both$/",
            steps: [
              {
                calls: [
                  { tool: "writeFile", input: { path: "a.txt", content: "one\n" } },
                  { tool: "bash", input: { command: "rm b.txt" } },
                ],
              },
              { text: "{{ results.0 }} | {{ results.1 }}" },
            ],
          },
          { when: "/^hostile$/", steps: [call("bash", { command: hostile }), { text: "{{ results.0 }}" }] },
          { when: "/^ask$/", steps: [call("askUser", { prompt: "Which **branch** should I use?" }), { text: "I use {{ results.0 }}." }] },
          {
            when: "/^form$/",
            steps: [call("askUser", { prompt: `Tell me about the project ${hostile}`, schema: profile }), { text: "Got {{ results.0 }}" }],
          },
          { when: "/^sleep$/", steps: [call("sleepUntil", { when: 3600 }), { text: "Awake." }] },
          { when: "/^delegate$/", steps: [call("task", { description: "Clean up" }), { text: "Got: {{ results.0 }}" }] },
          { when: "/^Clean up$/", steps: [call("bash", { command: "rm -rf tmp" }), { text: "Cleaned." }] },
          { steps: [{ text: "You said: {{ message }}" }] },
        ],
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

const findEntry = (page: Page, agent: string) => page.locator(".inbox-entry", { has: page.getByRole("link", { name: agent, exact: true }) });
const hasNoOverflow = (page: Page) =>
  page.evaluate(() => document.documentElement.scrollWidth <= document.documentElement.clientWidth);
const shoot = (page: Page, name: string) => page.screenshot({ path: `${screenshots}approvals-${name}.png`, fullPage: true });

test("shots", async () => {
  const empty = await openAddress("/app/~inbox");
  await empty.page.getByText("Nothing waits for you").waitFor();
  await shoot(empty.page, "empty");
  const alice = await newAgent("alice");
  await testbed.api(`${alice.at}/files`, "POST", { edits: [{ write: "a.ts", content: "import x from 'x';\n\nconst limit = 10;\nexport { limit };\n" }] });
  await ask(alice, "fix");
  const bob = await newAgent("bob");
  await ask(bob, "both");
  const carol = await newAgent("carol");
  await ask(carol, "hostile");
  const dora = await newAgent("dora");
  await ask(dora, "ask");
  const eve = await newAgent("eve");
  await ask(eve, "form");
  const fred = await newAgent("fred");
  await ask(fred, "delegate");
  const { page } = empty;
  await findEntry(page, "eve").waitFor();
  await shoot(page, "inbox");
  await page.emulateMedia({ colorScheme: "dark" });
  await shoot(page, "inbox-dark");
  await page.emulateMedia({ colorScheme: "light" });
  await findEntry(page, "alice").getByRole("button", { name: /^Edit/ }).click();
  await findEntry(page, "alice").getByLabel("Approve").selectOption("agent");
  await findEntry(page, "bob").getByLabel("Approve").selectOption("always");
  await findEntry(page, "bob").getByRole("button", { name: "Deny this" }).first().click();
  await findEntry(page, "carol").getByRole("button", { name: "Answer in its place" }).click();
  await shoot(page, "edit");
  const mobile = await openAddress("/app/~inbox", phone);
  await findEntry(mobile.page, "eve").waitFor();
  await shoot(mobile.page, "phone");
  await findEntry(mobile.page, "alice").getByRole("button", { name: /^Edit/ }).click();
  await findEntry(mobile.page, "bob").getByRole("button", { name: "Deny all 2" }).click();
  await shoot(mobile.page, "phone-edit");
  for (const [name, options] of [["chat", {}], ["chat-phone", phone]] as const) {
    for (const agent of ["alice", "bob", "dora", "eve", "fred"]) {
      const opened = await openAddress(`/app/global/${agent}`, options);
      await opened.page.waitForTimeout(1500);
      await shoot(opened.page, `${name}-${agent}`);
    }
  }
}, 120_000);
