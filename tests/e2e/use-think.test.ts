import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { AgentStatus, Message } from "@thinkery/sdk";
import { talk } from "@thinkery/sdk/client";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { WebSocket } from "ws";
import { openBrowser, visit } from "../kit/browser.ts";
import { counting } from "../kit/chat.ts";
import { type House, openHouse } from "../kit/house.ts";
import { mainOf } from "../kit/processes.ts";
import { type Front, openFront, type PageWindow } from "../kit/think-page.ts";
import { cancel, connected, lastText, seen, send, show, status, texts } from "../kit/think-visit.ts";
import { until } from "../kit/until.ts";

// The React hook in a real browser, on a page of somebody else's with a backend of its own.

const scripts = {
  counter: {
    pace: 15,
    exchanges: [
      { when: "plan", steps: [{ text: "Let me note it. " }, { call: { tool: "set_title", input: { title: "A plan" } } }, { call: { tool: "write_todos", input: { todos: [{ content: "one", status: "pending" }] } } }, { text: counting }] },
      { when: "count", steps: [{ reasoning: "They want words." }, { text: counting }] },
      { steps: [{ text: "You said: {{ message }}" }] },
    ],
  },
};

let house: House;
let browser: Browser;
let front: Front;
let developers: Front;
let agents = 0;

beforeAll(async () => {
  [house, browser] = await Promise.all([openHouse(), openBrowser()]);
  [front, developers] = await Promise.all([openFront(house), openFront(house, "development")]);
  await mkdir(join(house.home, "scripts"), { recursive: true });
  for (const [name, script] of Object.entries(scripts)) await writeFile(join(house.home, "scripts", `${name}.yaml`), JSON.stringify(script));
});

afterAll(async () => {
  front?.stop();
  developers?.stop();
  await browser?.close();
  await house?.stop();
});

const newAgent = async () => (await house.client.agents().create({ name: `agent-${++agents}`, model: "scripted:counter" })).name;

async function open(agent: string | undefined, at = front, more = ""): Promise<{ page: Page; complaints: string[] }> {
  const { page, context, complaints } = await visit(browser);
  onTestFinished(() => context.close());
  await page.goto(`${at.url}/?${agent === undefined ? "" : `agent=${agent}`}${more}`);
  if (agent !== undefined) await connected(page);
  return { page, complaints };
}

async function stored(agent: string): Promise<Message[]> {
  return (await house.client.agent(agent).messages({ limit: 500 })).messages.filter(({ role }) => role !== "tool");
}

/** The page shows every message of the agent, in order, and nothing else. */
async function expectTruth(page: Page, agent: string): Promise<void> {
  const told = (await stored(agent)).map(({ id, content }) => [id, content]);
  expect(await seen(page, ({ think }) => think.messages.map(({ id, text }) => [id, text]))).toEqual(told);
  const rows = await page.locator("li").evaluateAll((rows) => rows.map((row) => [(row as HTMLElement).dataset.id, row.querySelector("p")?.textContent]));
  expect(rows).toEqual(told);
}

/** What the agent tells somebody who connects now. */
function synced(agent: string): Promise<AgentStatus> {
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
  const main = await until("main", () => mainOf(house.home));
  process.kill(main.pid, "SIGKILL");
  await until("another main", () => mainOf(house.home, main.pid));
}

test("words are shown as they come, and what does not change is not drawn again", async () => {
  const agent = await newAgent();
  const { page, complaints } = await open(agent);
  expect(await texts(page)).toEqual([]);
  await send(page, "Hello");
  await until("the answer", async () => (await lastText(page)) === "You said: Hello");
  await status(page, "idle");
  const before = await seen(page, ({ drawn }) => ({ ...drawn }));
  await send(page, "count");
  const lengths: number[] = [];
  await until("all words", async () => {
    const { length } = await lastText(page);
    if (length !== lengths.at(-1)) lengths.push(length);
    return length === counting.length;
  });
  await status(page, "idle");
  expect(lengths.length).toBeGreaterThan(5);
  const after = await seen(page, ({ drawn }) => ({ ...drawn }));
  for (const [id, times] of Object.entries(before)) expect([id, after[id]]).toEqual([id, times]);
  const [, , asked, answer] = await seen(page, ({ think }) => think.messages.map(({ id }) => id));
  expect(after[asked as string]).toBeLessThan(6);
  expect(after[answer as string]).toBeGreaterThan(5);
  expect(await seen(page, ({ think }) => think.messages[3]?.reasoning)).toBe("They want words.");
  await expectTruth(page, agent);
  expect(complaints).toEqual([]);
});

test("a turn is canceled in mid-sentence, and what was said stays", async () => {
  const agent = await newAgent();
  const { page } = await open(agent);
  await send(page, "count");
  await until("some words", async () => (await lastText(page)).includes("word3"));
  await cancel(page);
  await page.locator('li[data-role="assistant"][data-stage="canceled"]').waitFor();
  await status(page, "idle");
  expect(await seen(page, ({ think }) => think.run)).toBeUndefined();
  await expectTruth(page, agent);
});

test("the state is what the agent would tell a newcomer, before, in and after a turn", async () => {
  const agent = await newAgent();
  const { page } = await open(agent);
  const agrees = (what: string) =>
    until(what, async () => {
      const [ours, theirs] = [await seen(page, ({ think }) => think.state), await synced(agent)];
      expect(ours).toEqual(theirs);
      return ours;
    });
  expect(await agrees("nothing said")).toMatchObject({ status: "idle", queued: 0, run: { status: "idle" } });
  await send(page, "plan");
  await until("some words", async () => (await lastText(page)).includes("word3"));
  await send(page, "second");
  await send(page, "third");
  expect(await agrees("two that wait")).toMatchObject({ status: "thinking", queued: 2, title: "A plan", run: { status: "running", step: 3 } });
  await page.evaluate(() => {
    const { think } = (window as unknown as PageWindow).page;
    think.cancel(think.messages.find(({ text }) => text === "third")?.runId);
  });
  expect(await agrees("one that waits")).toMatchObject({ queued: 1, run: { status: "running" } });
  await cancel(page);
  await until("the second's answer", async () => (await texts(page)).includes("You said: second"));
  expect(await agrees("the end")).toMatchObject({ status: "idle", queued: 0, run: { status: "completed" } });
  expect(await seen(page, ({ think: { title, todos, queued, model } }) => ({ title, todos, queued, model }))).toEqual({
    title: "A plan",
    todos: [{ content: "one", status: "pending" }],
    queued: 0,
    model: "scripted:counter",
  });
  // What was there before is known to whoever comes now, too.
  const { page: other } = await open(agent);
  await until("the todos", () => seen(other, ({ think }) => think.todos.length));
  expect(await seen(other, ({ think }) => [think.title, think.model])).toEqual(["A plan", "scripted:counter"]);
});

test("after kill -9 in mid-turn the page shows the truth, and what was said meanwhile is not lost", async () => {
  const agent = await newAgent();
  const { page } = await open(agent);
  await send(page, "plan");
  await until("some words", async () => (await lastText(page)).includes("word9"));
  const lost = page.locator('main[data-connection="lost"]').waitFor();
  await killMain();
  await lost;
  await send(page, "Are you there?");
  await until("both answers", async () => (await stored(agent)).at(-1)?.content === "You said: Are you there?");
  await status(page, "idle");
  await expectTruth(page, agent);
  expect((await stored(agent)).filter(({ role }) => role === "user").map(({ content }) => content)).toEqual(["plan", "Are you there?"]);
  expect((await stored(agent)).filter(({ content }) => content === counting)).toHaveLength(1);
  expect(await seen(page, ({ connections }) => connections)).toEqual(["connecting", "open", "lost", "open"]);
  expect(await page.evaluate((agent) => sessionStorage.getItem(agent), agent)).toBe("[]");
});

test("what is in the outbox survives a reload of the page", async () => {
  const agent = await newAgent();
  const { page } = await open(agent);
  const rest = { content: "From before.", mode: "queue", at: 1, id: "kept" };
  await page.evaluate(([agent, unsent]) => sessionStorage.setItem(agent as string, JSON.stringify([unsent])), [agent, rest]);
  await page.reload();
  await until("the answer", async () => (await lastText(page)) === "You said: From before.");
  expect((await stored(agent))[0]).toMatchObject({ id: "kept", content: "From before." });
  expect(await page.evaluate((agent) => sessionStorage.getItem(agent), agent)).toBe("[]");
});

test("StrictMode makes one connection and says everything once", async () => {
  const agent = await newAgent();
  const before = developers.sockets.opened;
  const { page, complaints } = await open(agent, developers, "&strict=1");
  await send(page, "count");
  await until("all words", async () => (await lastText(page)) === counting);
  await status(page, "idle");
  await expectTruth(page, agent);
  expect(developers.sockets.opened - before).toBe(1);
  expect(complaints).toEqual([]);
});

test("fifty times there and gone again leaves no socket behind", async () => {
  const agent = await newAgent();
  const { page } = await open(undefined);
  await until("the last test's sockets to be gone", () => front.sockets.open === 0);
  const before = front.sockets.opened;
  for (let round = 0; round < 50; round++) {
    await show(page, agent);
    // Now before it is open, now after, now while words come.
    if (round % 3 > 0) await page.locator('main[data-ready="true"]').waitFor();
    if (round % 10 === 2) await send(page, "count");
    await show(page, undefined);
  }
  await until("every socket to be closed", () => front.sockets.open === 0);
  expect(front.sockets.opened - before).toBeGreaterThan(30);
  await show(page, agent);
  await page.locator('main[data-connection="open"]').waitFor();
  await until("one socket", () => front.sockets.open === 1);
});

test("another agent is another conversation, and nothing of the one before is in it", async () => {
  const [one, two] = [await newAgent(), await newAgent()];
  await (await house.client.agent(two).send("I am two")).outcome();
  const { page } = await open(one);
  await until("one socket", () => front.sockets.open === 1);
  await send(page, "count");
  await until("some words", async () => (await lastText(page)).includes("word3"));
  await show(page, two);
  await until("the other's words", async () => (await lastText(page)) === "You said: I am two");
  await expectTruth(page, two);
  await until("one socket", () => front.sockets.open === 1);
  await send(page, "Hello two");
  await until("an answer", async () => (await lastText(page)) === "You said: Hello two");
  await show(page, one);
  await until("all that was said meanwhile", async () => (await lastText(page)) === counting);
  await expectTruth(page, one);
  await expect(stored(two)).resolves.toHaveLength(4);
});

test("an approval that nothing waits for is answered, and no turn fails over it", async () => {
  const agent = await newAgent();
  const { page } = await open(agent);
  await send(page, "count");
  await until("some words", async () => (await lastText(page)).includes("word3"));
  await page.evaluate(() => (window as unknown as PageWindow).page.think.approve("none", { approved: true, reason: "Fine." }));
  await page.getByText("Nothing waits for an approval.").waitFor();
  await until("all words", async () => (await lastText(page)) === counting);
  await status(page, "idle");
  await expectTruth(page, agent);
});

test("older messages are loaded when asked for, and what the agent refused can be taken back", async () => {
  const agent = await newAgent();
  for (let n = 0; n < 40; n++) await house.client.call("serve", { body: { agent, message: `number ${n}` } });
  const { page } = await open(agent);
  expect(await texts(page)).toHaveLength(50);
  await page.evaluate(() => (window as unknown as PageWindow).page.think.loadOlder());
  await until("all of them", async () => (await texts(page)).length === 80);
  expect(await seen(page, ({ think }) => think.older)).toBe(false);
  await expectTruth(page, agent);
  const id = await send(page, "x".repeat(500_000));
  await page.locator('li[data-stage="refused"]').waitFor();
  await page.evaluate((id) => (window as unknown as PageWindow).page.think.takeBack(id as string), id);
  await expectTruth(page, agent);
  expect(await send(page, "x".repeat(1_000_001))).toBeUndefined();
  await page.getByText("This is too long to be sent").waitFor();
});

test("whoever is not let in is told why and does not ask on; and is let in when they try again", async () => {
  const { page } = await open(undefined);
  await show(page, "nobody");
  await page.locator('main[data-connection="refused"]').waitFor();
  expect(await seen(page, ({ think }) => think.connection)).toMatchObject({ state: "refused", reason: expect.stringContaining("nobody") });
  const agent = await newAgent();
  const { token } = front;
  front.token = "wrong";
  onTestFinished(() => void (front.token = token));
  await show(page, agent);
  await page.locator('main[data-connection="refused"]').waitFor();
  expect(await seen(page, ({ think }) => think.connection)).toMatchObject({ reason: expect.stringContaining("token") });
  front.token = token;
  await page.evaluate(() => (window as unknown as PageWindow).page.think.reconnect());
  await page.locator('main[data-connection="open"]').waitFor();
});
