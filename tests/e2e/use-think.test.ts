import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { AgentStatus, Message } from "@thinkery/sdk";
import { talk } from "@thinkery/sdk/client";
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

// The React hook in a real browser, on a page of somebody else's with a backend of its own.

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

let house: HostProcess;
let browser: Browser;
let front: Frontend;
let developers: Frontend;
let agents = 0;

beforeAll(async () => {
  [house, browser] = await Promise.all([startHostProcess(), openBrowser()]);
  [front, developers] = await Promise.all([openFrontend(house), openFrontend(house, "development")]);
  await mkdir(join(house.home, "scripts"), { recursive: true });
  for (const [name, script] of Object.entries(scripts))
    await writeFile(join(house.home, "scripts", `${name}.yaml`), JSON.stringify(script));
});

afterAll(async () => {
  front?.stop();
  developers?.stop();
  await browser?.close();
  await house?.stop();
});

const newAgent = async () =>
  (await house.client.agents().create({ name: `agent-${++agents}`, model: "scripted:counter" })).name;

async function open(agent: string | undefined, at = front, more = ""): Promise<{ page: Page; complaints: string[] }> {
  const { page, context, complaints } = await openPage(browser);
  onTestFinished(() => context.close());
  await page.goto(`${at.url}/?${agent === undefined ? "" : `agent=${agent}`}${more}`);
  if (agent !== undefined) await waitForConnection(page);
  return { page, complaints };
}

async function readStored(agent: string): Promise<Message[]> {
  return (await house.client.agent(agent).messages({ limit: 500 })).messages.filter(({ role }) => role !== "tool");
}

/** The page shows every message of the agent, in order, and nothing else. */
async function expectAllMessages(page: Page, agent: string): Promise<void> {
  const told = (await readStored(agent)).map(({ id, content }) => [id, content]);
  expect(await readHook(page, ({ think }) => think.messages.map(({ id, text }) => [id, text]))).toEqual(told);
  const rows = await page
    .locator("li")
    .evaluateAll((rows) => rows.map((row) => [(row as HTMLElement).dataset.id, row.querySelector("p")?.textContent]));
  expect(rows).toEqual(told);
}

/** What the agent tells somebody who connects now. */
function waitForSync(agent: string): Promise<AgentStatus> {
  return new Promise((resolve) => {
    const { close } = talk({
      url: `ws://127.0.0.1:${house.port}/agency/global/agent/${agent}/ws`,
      token: house.token,
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
  const main = await waitUntil("main", () => findMain(house.home));
  process.kill(main.pid, "SIGKILL");
  await waitUntil("another main", () => findMain(house.home, main.pid));
}

test("words are shown as they come, and what does not change is not drawn again", async () => {
  const agent = await newAgent();
  const { page, complaints } = await open(agent);
  expect(await readTexts(page)).toEqual([]);
  await send(page, "Hello");
  await waitUntil("the answer", async () => (await readLastText(page)) === "You said: Hello");
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
  const [, , asked, answer] = await readHook(page, ({ think }) => think.messages.map(({ id }) => id));
  expect(after[asked as string]).toBeLessThan(6);
  expect(after[answer as string]).toBeGreaterThan(5);
  expect(await readHook(page, ({ think }) => think.messages[3]?.reasoning)).toBe("They want words.");
  await expectAllMessages(page, agent);
  expect(complaints).toEqual([]);
});

test("a turn is canceled in mid-sentence, and what was said stays", async () => {
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

test("the state is what the agent would tell a newcomer, before, in and after a turn", async () => {
  const agent = await newAgent();
  const { page } = await open(agent);
  const agrees = (what: string) =>
    waitUntil(what, async () => {
      const [ours, theirs] = [await readHook(page, ({ think }) => think.state), await waitForSync(agent)];
      expect(ours).toEqual(theirs);
      return ours;
    });
  expect(await agrees("nothing said")).toMatchObject({ status: "idle", queued: 0, run: { status: "idle" } });
  await send(page, "plan");
  await waitUntil("some words", async () => (await readLastText(page)).includes("word3"));
  await send(page, "second");
  await send(page, "third");
  expect(await agrees("two that wait")).toMatchObject({
    status: "thinking",
    queued: 2,
    title: "A plan",
    run: { status: "running", step: 3 },
  });
  await page.evaluate(() => {
    const { think } = (window as unknown as PageWindow).page;
    think.cancel(think.messages.find(({ text }) => text === "third")?.runId);
  });
  expect(await agrees("one that waits")).toMatchObject({ queued: 1, run: { status: "running" } });
  await cancel(page);
  await waitUntil("the second's answer", async () => (await readTexts(page)).includes("You said: second"));
  expect(await agrees("the end")).toMatchObject({ status: "idle", queued: 0, run: { status: "completed" } });
  expect(
    await readHook(page, ({ think: { title, todos, queued, model } }) => ({ title, todos, queued, model })),
  ).toEqual({
    title: "A plan",
    todos: [{ content: "one", status: "pending" }],
    queued: 0,
    model: "scripted:counter",
  });
  // What was there before is known to whoever comes now, too.
  const { page: other } = await open(agent);
  await waitUntil("the todos", () => readHook(other, ({ think }) => think.todos.length));
  expect(await readHook(other, ({ think }) => [think.title, think.model])).toEqual(["A plan", "scripted:counter"]);
});

test("after kill -9 in mid-turn the page shows the truth, and what was said meanwhile is not lost", async () => {
  const agent = await newAgent();
  const { page } = await open(agent);
  await send(page, "plan");
  await waitUntil("some words", async () => (await readLastText(page)).includes("word9"));
  const lost = page.locator('main[data-connection="lost"]').waitFor();
  await killMain();
  await lost;
  await send(page, "Are you there?");
  await waitUntil("both answers", async () => (await readStored(agent)).at(-1)?.content === "You said: Are you there?");
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

test("what is in the outbox survives a reload of the page", async () => {
  const agent = await newAgent();
  const { page } = await open(agent);
  const rest = { content: "From before.", mode: "queue", at: 1, id: "kept" };
  await page.evaluate(
    ([agent, unsent]) => sessionStorage.setItem(agent as string, JSON.stringify([unsent])),
    [agent, rest],
  );
  await page.reload();
  await waitUntil("the answer", async () => (await readLastText(page)) === "You said: From before.");
  expect((await readStored(agent))[0]).toMatchObject({ id: "kept", content: "From before." });
  expect(await page.evaluate((agent) => sessionStorage.getItem(agent), agent)).toBe("[]");
});

test("StrictMode makes one connection and says everything once", async () => {
  const agent = await newAgent();
  const before = developers.sockets.opened;
  const { page, complaints } = await open(agent, developers, "&strict=1");
  await send(page, "count");
  await waitUntil("all words", async () => (await readLastText(page)) === countingText);
  await waitForStatus(page, "idle");
  await expectAllMessages(page, agent);
  expect(developers.sockets.opened - before).toBe(1);
  expect(complaints).toEqual([]);
});

test("fifty times there and gone again leaves no socket behind", async () => {
  const agent = await newAgent();
  const { page } = await open(undefined);
  await waitUntil("the last test's sockets to be gone", () => front.sockets.open === 0);
  const before = front.sockets.opened;
  for (let round = 0; round < 50; round++) {
    await show(page, agent);
    // Now before it is open, now after, now while words come.
    if (round % 3 > 0) await page.locator('main[data-ready="true"]').waitFor();
    if (round % 10 === 2) await send(page, "count");
    await show(page, undefined);
  }
  await waitUntil("every socket to be closed", () => front.sockets.open === 0);
  expect(front.sockets.opened - before).toBeGreaterThan(30);
  await show(page, agent);
  await page.locator('main[data-connection="open"]').waitFor();
  await waitUntil("one socket", () => front.sockets.open === 1);
});

test("another agent is another conversation, and nothing of the one before is in it", async () => {
  const [one, two] = [await newAgent(), await newAgent()];
  await (await house.client.agent(two).send("I am two")).outcome();
  const { page } = await open(one);
  await waitUntil("one socket", () => front.sockets.open === 1);
  await send(page, "count");
  await waitUntil("some words", async () => (await readLastText(page)).includes("word3"));
  await show(page, two);
  await waitUntil("the other's words", async () => (await readLastText(page)) === "You said: I am two");
  await expectAllMessages(page, two);
  await waitUntil("one socket", () => front.sockets.open === 1);
  await send(page, "Hello two");
  await waitUntil("an answer", async () => (await readLastText(page)) === "You said: Hello two");
  await show(page, one);
  await waitUntil("all that was said meanwhile", async () => (await readLastText(page)) === countingText);
  await expectAllMessages(page, one);
  await expect(readStored(two)).resolves.toHaveLength(4);
});

test("an approval that nothing waits for is answered, and no turn fails over it", async () => {
  const agent = await newAgent();
  const { page } = await open(agent);
  await send(page, "count");
  await waitUntil("some words", async () => (await readLastText(page)).includes("word3"));
  await page.evaluate(() =>
    (window as unknown as PageWindow).page.think.approve("none", { approved: true, reason: "Fine." }),
  );
  await page.getByText("Nothing waits for an approval.").waitFor();
  await waitUntil("all words", async () => (await readLastText(page)) === countingText);
  await waitForStatus(page, "idle");
  await expectAllMessages(page, agent);
});

test("older messages are loaded when asked for, and what the agent refused can be taken back", async () => {
  const agent = await newAgent();
  for (let n = 0; n < 40; n++) await house.client.call("serve", { body: { agent, message: `number ${n}` } });
  const { page } = await open(agent);
  expect(await readTexts(page)).toHaveLength(50);
  await page.evaluate(() => (window as unknown as PageWindow).page.think.loadOlder());
  await waitUntil("all of them", async () => (await readTexts(page)).length === 80);
  expect(await readHook(page, ({ think }) => think.older)).toBe(false);
  await expectAllMessages(page, agent);
  const id = await send(page, "x".repeat(500_000));
  await page.locator('li[data-stage="refused"]').waitFor();
  await page.evaluate((id) => (window as unknown as PageWindow).page.think.unsend(id as string), id);
  await expectAllMessages(page, agent);
  expect(await send(page, "x".repeat(1_000_001))).toBeUndefined();
  await page.getByText("This is too long to be sent").waitFor();
});

test("whoever is not let in is told why and does not ask on; and is let in when they try again", async () => {
  const { page } = await open(undefined);
  await show(page, "nobody");
  await page.locator('main[data-connection="refused"]').waitFor();
  expect(await readHook(page, ({ think }) => think.connection)).toMatchObject({
    state: "refused",
    reason: expect.stringContaining("nobody"),
  });
  const agent = await newAgent();
  const { token } = front;
  front.token = "wrong";
  onTestFinished(() => void (front.token = token));
  await show(page, agent);
  await page.locator('main[data-connection="refused"]').waitFor();
  expect(await readHook(page, ({ think }) => think.connection)).toMatchObject({
    reason: expect.stringContaining("token"),
  });
  front.token = token;
  await page.evaluate(() => (window as unknown as PageWindow).page.think.reconnect());
  await page.locator('main[data-connection="open"]').waitFor();
});
