import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openBrowser } from "../kit/browser.ts";
import { countingText, ChatUser } from "../kit/chat.ts";
import { type HostProcess, startHostProcess } from "../kit/host-process.ts";
import { waitUntil } from "../kit/wait-until.ts";

let host: HostProcess;
let browser: Browser;

beforeAll(async () => {
  [host, browser] = await Promise.all([startHostProcess(), openBrowser()]);
});

afterAll(async () => {
  await browser?.close();
  await host?.stop();
});

/** What the listeners in the page received. */
interface RecordedStream {
  seqs: number[];
  frames: string[];
}

test("an EventSource with tickets and a WebSocket with the page's secret can talk to an agent, and the event stream resumes after a crash without gaps or repeats", async () => {
  const user = new ChatUser(host, browser);
  const { page } = await user.createAndOpenAgent("plain", {
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
    const recorded: RecordedStream = { seqs: [], frames: [] };
    Object.assign(window, recorded);
    const secret = localStorage.getItem("thinkery.page-secret") ?? "";
    const types =
      "thread.created request.accepted run.started run.tick run.resumed agent.started agent.completed model.started model.delta model.completed tool.started tool.output title.set checkpoint.saved";
    // A ticket works once, so each reconnect needs another.
    const follow = async (): Promise<void> => {
      const path = `/agency/global/agent/plain/events?after=${recorded.seqs.at(-1) ?? 0}`;
      const response = await fetch("/tickets", {
        method: "POST",
        headers: { "content-type": "application/json", "x-thinkery-page": secret },
        body: JSON.stringify({ path }),
      }).catch(() => undefined);
      if (!response?.ok) return void setTimeout(() => void follow(), 100);
      const { ticket } = (await response.json()) as { ticket: string };
      const source = new EventSource(`${path}&ticket=${ticket}`);
      for (const type of types.split(" "))
        source.addEventListener(type, (event) => recorded.seqs.push(Number((event as MessageEvent).lastEventId)));
      source.addEventListener("error", () => {
        source.close();
        void follow();
      });
    };
    void follow();
    const socket = new WebSocket(`${location.origin.replace("http", "ws")}/agency/global/agent/plain/ws`, [
      "thinkery",
      `thinkery.page.${secret}`,
    ]);
    socket.addEventListener("message", ({ data }) =>
      recorded.frames.push((JSON.parse(data as string) as { type: string }).type),
    );
    socket.addEventListener("open", () =>
      socket.send(JSON.stringify({ type: "chat", id: "from-a-plain-socket", content: "Begin." })),
    );
  });
  const readSeqs = () => page.evaluate(() => (window as unknown as RecordedStream).seqs);
  const readFrames = () => page.evaluate(() => (window as unknown as RecordedStream).frames);
  await waitUntil("text on the socket", async () => (await readFrames()).includes("text_delta"));
  expect((await readFrames()).slice(0, 2)).toEqual(["sync", "history"]);
  await waitUntil("some events", async () => (await readSeqs()).length > 5);
  await user.killMain();
  await waitUntil("the turn to end", async () => (await user.readMessages("plain")).at(-1)?.content === "The end.");
  const { events } = await host.client.call("listEvents", {
    params: { agency: "global", agent: "plain" },
    query: { limit: 1000 },
  });
  await waitUntil("every event", async () => (await readSeqs()).length >= events.length);
  expect(await readSeqs()).toEqual(events.map(({ seq }) => seq));
  expect(events.some(({ type }) => type === "run.resumed")).toBe(true);
});
