import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openBrowser } from "../kit/browser.ts";
import { countingText, ChatUser } from "../kit/chat.ts";
import { type HostProcess, startHostProcess } from "../kit/host-process.ts";
import { waitUntil } from "../kit/wait-until.ts";

let house: HostProcess;
let browser: Browser;

beforeAll(async () => {
  [house, browser] = await Promise.all([startHostProcess(), openBrowser()]);
});

afterAll(async () => {
  await browser?.close();
  await house?.stop();
});

/** What the page's own listeners gathered. */
interface RecordedStream {
  seen: number[];
  frames: string[];
}

test("the browser's own EventSource and WebSocket speak with an agent, and resume after a crash without gap or repeat", async () => {
  const guest = new ChatUser(house, browser);
  const { page } = await guest.createAndOpenAgent("plain", {
    pace: 10,
    exchanges: [
      {
        steps: [
          { text: countingText },
          { call: { tool: "set_title", input: { title: "Plain" } } },
          { text: "The end." },
        ],
      },
    ],
  });
  await page.evaluate(() => {
    const heard: RecordedStream = { seen: [], frames: [] };
    Object.assign(window, heard);
    const source = new EventSource("/agency/global/agent/plain/events?after=0");
    const types =
      "thread.created request.accepted run.started run.tick run.resumed agent.started agent.completed model.started model.delta model.completed tool.started tool.output title.set checkpoint.saved";
    for (const type of types.split(" ")) {
      source.addEventListener(type, (event) => heard.seen.push(Number((event as MessageEvent).lastEventId)));
    }
    const socket = new WebSocket(`${location.origin.replace("http", "ws")}/agency/global/agent/plain/ws`);
    socket.addEventListener("message", ({ data }) =>
      heard.frames.push((JSON.parse(data as string) as { type: string }).type),
    );
    socket.addEventListener("open", () =>
      socket.send(JSON.stringify({ type: "chat", id: "from-a-plain-socket", content: "Begin." })),
    );
  });
  const seen = () => page.evaluate(() => (window as unknown as RecordedStream).seen);
  const frames = () => page.evaluate(() => (window as unknown as RecordedStream).frames);
  await waitUntil("words on the socket", async () => (await frames()).includes("text_delta"));
  expect((await frames()).slice(0, 2)).toEqual(["sync", "history"]);
  await waitUntil("some events", async () => (await seen()).length > 5);
  await guest.killMain();
  await waitUntil("the turn to end", async () => (await guest.readMessages("plain")).at(-1)?.content === "The end.");
  const { events } = await house.client.call("listEvents", {
    params: { agency: "global", agent: "plain" },
    query: { limit: 1000 },
  });
  await waitUntil("every event", async () => (await seen()).length >= events.length);
  expect(await seen()).toEqual(events.map(({ seq }) => seq));
  expect(events.some(({ type }) => type === "run.resumed")).toBe(true);
});
