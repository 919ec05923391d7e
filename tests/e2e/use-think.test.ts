import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { AgentStatus, Message } from "@thinkery/sdk";
import { openAgentSocket } from "@thinkery/sdk/client";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { WebSocket } from "ws";
import { openBrowser, openPage } from "../kit/browser.ts";
import { countingText } from "../kit/chat.ts";
import { type HostProcess, startHostProcess } from "../kit/host-process.ts";
import { findMain } from "../kit/processes.ts";
import {
  cancel,
  waitForConnection,
  readLastText,
  readHook,
  send,
  show,
  waitForStatus,
  readTexts,
} from "../kit/think-page-actions.ts";
import { type Frontend, openFrontend, type PageWindow } from "../kit/think-page.ts";
import { waitUntil } from "../kit/wait-until.ts";

// The React hook in a real browser, on a third-party page with its own backend.

const scripts = {
  counter: {
    pace: 15,
    exchanges: [
      {
        when: "plan",
        steps: [
          { text: "Let me note it. " },
          { call: { tool: "set_title", input: { title: "A plan" } } },
          { call: { tool: "write_todos", input: { todos: [{ content: "one", status: "pending" }] } } },
          { text: countingText },
        ],
      },
      { when: "count", steps: [{ reasoning: "They want words." }, { text: countingText }] },
      { steps: [{ text: "You said: {{ message }}" }] },
    ],
  },
};

let host: HostProcess;
let browser: Browser;
let frontend: Frontend;
let devFrontend: Frontend;
let agentCount = 0;

beforeAll(async () => {
  [host, browser] = await Promise.all([startHostProcess(), openBrowser()]);
  [frontend, devFrontend] = await Promise.all([openFrontend(host), openFrontend(host, "development")]);
  await mkdir(join(host.home, "scripts"), { recursive: true });
  for (const [name, script] of Object.entries(scripts))
    await writeFile(join(host.home, "scripts", `${name}.yaml`), JSON.stringify(script));
});

afterAll(async () => {
  frontend?.stop();
  devFrontend?.stop();
  await browser?.close();
  await host?.stop();
});

const newAgent = async () =>
  (await host.client.agents().create({ name: `agent-${++agentCount}`, model: "scripted:counter" })).name;

async function open(
  agent: string | undefined,
  at = frontend,
  more = "",
): Promise<{ page: Page; pageErrors: string[] }> {
  const { page, context, pageErrors } = await openPage(browser);
  onTestFinished(() => context.close());
  await page.goto(`${at.url}/?${agent === undefined ? "" : `agent=${agent}`}${more}`);
  if (agent !== undefined) await waitForConnection(page);
  return { page, pageErrors };
}

async function readStored(agent: string): Promise<Message[]> {
  return (await host.client.agent(agent).messages({ limit: 500 })).messages.filter(({ role }) => role !== "tool");
}

/** Expects the page to show every message of the agent, in order, and nothing else. */
async function expectAllMessages(page: Page, agent: string): Promise<void> {
  const expected = (await readStored(agent)).map(({ id, content }) => [id, content]);
  expect(await readHook(page, ({ think }) => think.messages.map(({ id, text }) => [id, text]))).toEqual(expected);
  const rows = await page
    .locator("li")
    .evaluateAll((rows) => rows.map((row) => [(row as HTMLElement).dataset.id, row.querySelector("p")?.textContent]));
  expect(rows).toEqual(expected);
}

/** The state that the agent sends to a new client. */
function waitForSync(agent: string): Promise<AgentStatus> {
  return new Promise((resolve) => {
    const { close } = openAgentSocket({
      url: `ws://127.0.0.1:${host.port}/agency/global/agent/${agent}/ws`,
      token: host.token,
      connect: (url, headers) => new WebSocket(url, { headers }) as unknown as globalThis.WebSocket,
      onFrame(frame) {
        if (frame.type !== "sync") return;
        close();
        resolve(frame.state);
      },
    });
  });
}

async function killMain(): Promise<void> {
  const main = await waitUntil("main", () => findMain(host.home));
  process.kill(main.pid, "SIGKILL");
  await waitUntil("another main", () => findMain(host.home, main.pid));
}

test("text is shown while it streams, and unchanged messages are not rendered again", async () => {
  const agent = await newAgent();
  const { page, pageErrors } = await open(agent);
  expect(await readTexts(page)).toEqual([]);
  await send(page, "Hello");
  await waitUntil("the response", async () => (await readLastText(page)) === "You said: Hello");
  await waitForStatus(page, "idle");
  const before = await readHook(page, ({ drawn }) => ({ ...drawn }));
  await send(page, "count");
  const lengths: number[] = [];
  await waitUntil("all words", async () => {
    const { length } = await readLastText(page);
    if (length !== lengths.at(-1)) lengths.push(length);
    return length === countingText.length;
  });
  await waitForStatus(page, "idle");
  expect(lengths.length).toBeGreaterThan(5);
  const after = await readHook(page, ({ drawn }) => ({ ...drawn }));
  for (const [id, times] of Object.entries(before)) expect([id, after[id]]).toEqual([id, times]);
  const [, , request, response] = await readHook(page, ({ think }) => think.messages.map(({ id }) => id));
  expect(after[request as string]).toBeLessThan(6);
  expect(after[response as string]).toBeGreaterThan(5);
  expect(await readHook(page, ({ think }) => think.messages[3]?.reasoning)).toBe("They want words.");
  await expectAllMessages(page, agent);
  expect(pageErrors).toEqual([]);
});

test("a streaming turn can be canceled, and the text so far stays", async () => {
  const agent = await newAgent();
  const { page } = await open(agent);
  await send(page, "count");
  await waitUntil("some words", async () => (await readLastText(page)).includes("word3"));
  await cancel(page);
  await page.locator('li[data-role="assistant"][data-stage="canceled"]').waitFor();
  await waitForStatus(page, "idle");
  expect(await readHook(page, ({ think }) => think.run)).toBeUndefined();
  await expectAllMessages(page, agent);
});

test("the hook's state equals the one a new client gets, before, during and after a turn", async () => {
  const agent = await newAgent();
  const { page } = await open(agent);
  const expectSameState = (what: string) =>
    waitUntil(what, async () => {
      const [hookState, syncState] = [await readHook(page, ({ think }) => think.state), await waitForSync(agent)];
      expect(hookState).toEqual(syncState);
      return hookState;
    });
  expect(await expectSameState("no messages")).toMatchObject({ status: "idle", queued: 0, run: { status: "idle" } });
  await send(page, "plan");
  await waitUntil("some words", async () => (await readLastText(page)).includes("word3"));
  await send(page, "second");
  await send(page, "third");
  await waitUntil("both to be queued", async () => (await readHook(page, ({ think }) => think.state))?.queued === 2);
  expect(await expectSameState("two queued messages")).toMatchObject({
    status: "thinking",
    queued: 2,
    title: "A plan",
    run: { status: "running", step: 3 },
  });
  await page.evaluate(() => {
    const { think } = (window as unknown as PageWindow).page;
    think.cancel(think.messages.find(({ text }) => text === "third")?.runId);
  });
  expect(await expectSameState("one queued message")).toMatchObject({ queued: 1, run: { status: "running" } });
  await cancel(page);
  await waitUntil("the response to the second message", async () =>
    (await readTexts(page)).includes("You said: second"),
  );
  expect(await expectSameState("the end")).toMatchObject({ status: "idle", queued: 0, run: { status: "completed" } });
  expect(
    await readHook(page, ({ think: { title, todos, queued, model } }) => ({ title, todos, queued, model })),
  ).toEqual({
    title: "A plan",
    todos: [{ content: "one", status: "pending" }],
    queued: 0,
    model: "scripted:counter",
  });
  // A new client gets the earlier title and todos, too.
  const { page: other } = await open(agent);
  await waitUntil("the todos", () => readHook(other, ({ think }) => think.todos.length));
  expect(await readHook(other, ({ think }) => [think.title, think.model])).toEqual(["A plan", "scripted:counter"]);
});

test("after kill -9 during a turn the page is consistent, and a message sent meanwhile is not lost", async () => {
  const agent = await newAgent();
  const { page } = await open(agent);
  await send(page, "plan");
  await waitUntil("some words", async () => (await readLastText(page)).includes("word9"));
  const lost = page.locator('main[data-connection="lost"]').waitFor();
  await killMain();
  await lost;
  await send(page, "Are you there?");
  await waitUntil(
    "both responses",
    async () => (await readStored(agent)).at(-1)?.content === "You said: Are you there?",
  );
  await waitForStatus(page, "idle");
  await expectAllMessages(page, agent);
  expect((await readStored(agent)).filter(({ role }) => role === "user").map(({ content }) => content)).toEqual([
    "plan",
    "Are you there?",
  ]);
  expect((await readStored(agent)).filter(({ content }) => content === countingText)).toHaveLength(1);
  expect(await readHook(page, ({ connections }) => connections)).toEqual(["connecting", "open", "lost", "open"]);
  expect(await page.evaluate((agent) => sessionStorage.getItem(agent), agent)).toBe("[]");
});

test("unsent messages survive a reload of the page", async () => {
  const agent = await newAgent();
  const { page } = await open(agent);
  const unsent = { content: "From before.", mode: "queue", at: 1, id: "kept" };
  await page.evaluate(
    ([agent, message]) => sessionStorage.setItem(agent as string, JSON.stringify([message])),
    [agent, unsent],
  );
  await page.reload();
  await waitUntil("the response", async () => (await readLastText(page)) === "You said: From before.");
  expect((await readStored(agent))[0]).toMatchObject({ id: "kept", content: "From before." });
  expect(await page.evaluate((agent) => sessionStorage.getItem(agent), agent)).toBe("[]");
});

test("StrictMode opens one connection and sends everything once", async () => {
  const agent = await newAgent();
  const before = devFrontend.sockets.opened;
  const { page, pageErrors } = await open(agent, devFrontend, "&strict=1");
  await send(page, "count");
  await waitUntil("all words", async () => (await readLastText(page)) === countingText);
  await waitForStatus(page, "idle");
  await expectAllMessages(page, agent);
  expect(devFrontend.sockets.opened - before).toBe(1);
  expect(pageErrors).toEqual([]);
});

test("mounting and unmounting fifty times leaves no socket open", async () => {
  const agent = await newAgent();
  const { page } = await open(undefined);
  await waitUntil("the sockets of the previous test to close", () => frontend.sockets.open === 0);
  const before = frontend.sockets.opened;
  for (let round = 0; round < 50; round++) {
    await show(page, agent);
    // Unmount before the connection is open, after it, and while text streams.
    if (round % 3 > 0) await page.locator('main[data-ready="true"]').waitFor();
    if (round % 10 === 2) await send(page, "count");
    await show(page, undefined);
  }
  await waitUntil("every socket to be closed", () => frontend.sockets.open === 0);
  expect(frontend.sockets.opened - before).toBeGreaterThan(30);
  await show(page, agent);
  await page.locator('main[data-connection="open"]').waitFor();
  await waitUntil("one socket", () => frontend.sockets.open === 1);
});

test("switching to another agent shows its conversation and nothing of the previous one", async () => {
  const [first, second] = [await newAgent(), await newAgent()];
  await (await host.client.agent(second).send("I am two")).outcome();
  const { page } = await open(first);
  await waitUntil("one socket", () => frontend.sockets.open === 1);
  await send(page, "count");
  await waitUntil("some words", async () => (await readLastText(page)).includes("word3"));
  await show(page, second);
  await waitUntil("the other conversation", async () => (await readLastText(page)) === "You said: I am two");
  await expectAllMessages(page, second);
  await waitUntil("one socket", () => frontend.sockets.open === 1);
  await send(page, "Hello two");
  await waitUntil("a response", async () => (await readLastText(page)) === "You said: Hello two");
  await show(page, first);
  await waitUntil("the text that was streamed meanwhile", async () => (await readLastText(page)) === countingText);
  await expectAllMessages(page, first);
  await expect(readStored(second)).resolves.toHaveLength(4);
});

test("an answer to an unknown approval is reported and does not affect the turn", async () => {
  const agent = await newAgent();
  const { page } = await open(agent);
  await send(page, "count");
  await waitUntil("some words", async () => (await readLastText(page)).includes("word3"));
  await page.evaluate(() =>
    (window as unknown as PageWindow).page.think.approve("none", { approved: true, reason: "Fine." }),
  );
  await page.getByText("There is no approval with this id.").waitFor();
  await waitUntil("all words", async () => (await readLastText(page)) === countingText);
  await waitForStatus(page, "idle");
  await expectAllMessages(page, agent);
});

test("older messages load on request, and a rejected message can be removed", async () => {
  const agent = await newAgent();
  for (let index = 0; index < 40; index++)
    await host.client.call("serve", { body: { agent, message: `number ${index}` } });
  const { page } = await open(agent);
  expect(await readTexts(page)).toHaveLength(50);
  await page.evaluate(() => (window as unknown as PageWindow).page.think.loadOlder());
  await waitUntil("all messages", async () => (await readTexts(page)).length === 80);
  expect(await readHook(page, ({ think }) => think.older)).toBe(false);
  await expectAllMessages(page, agent);
  const id = await send(page, "x".repeat(500_000));
  await page.locator('li[data-stage="refused"]').waitFor();
  await page.evaluate((id) => (window as unknown as PageWindow).page.think.unsend(id as string), id);
  await expectAllMessages(page, agent);
  expect(await send(page, "x".repeat(1_000_001))).toBeUndefined();
  await page.getByText("This message is too long").waitFor();
});

test("a refused connection gives the reason and is not retried until reconnect is called", async () => {
  const { page } = await open(undefined);
  await show(page, "nobody");
  await page.locator('main[data-connection="refused"]').waitFor();
  expect(await readHook(page, ({ think }) => think.connection)).toMatchObject({
    state: "refused",
    reason: expect.stringContaining("nobody"),
  });
  const agent = await newAgent();
  const { token } = frontend;
  frontend.token = "wrong";
  onTestFinished(() => void (frontend.token = token));
  await show(page, agent);
  await page.locator('main[data-connection="refused"]').waitFor();
  expect(await readHook(page, ({ think }) => think.connection)).toMatchObject({
    reason: expect.stringContaining("token"),
  });
  frontend.token = token;
  await page.evaluate(() => (window as unknown as PageWindow).page.think.reconnect());
  await page.locator('main[data-connection="open"]').waitFor();
});
