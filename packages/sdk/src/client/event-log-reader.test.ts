import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { waitUntil } from "../../../../tests/kit/wait-until.ts";
import { EventLogReader, type EventLogOptions } from "./event-log-reader.ts";
import { createEndpointFetch } from "./request.ts";

interface Visit {
  after: string | null;
  progress: string | null;
  response: ServerResponse;
  gone: boolean;
}

/** A host whose log is told by the test, one visit a connection. */
async function serve(onVisit: (visit: Visit, round: number) => void, options: Partial<EventLogOptions> = {}) {
  const visits: Visit[] = [];
  const server = createServer((request: IncomingMessage, response) => {
    const query = new URL(request.url ?? "", "http://x").searchParams;
    const visit = { after: query.get("after"), progress: query.get("progress"), response, gone: false };
    response.on("close", () => (visit.gone = true));
    visits.push(visit);
    onVisit(visit, visits.length);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const ask = createEndpointFetch({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
  return {
    visits,
    log: new EventLogReader({
      ask,
      target: { kind: "agent", agency: "global", agent: "alice" },
      retryTimeoutMs: 20_000,
      ...options,
    }),
  };
}

const welcome = (seq: number) => `: welcome\nid: ${seq}\n\n`;
const event = (seq: number) => `id: ${seq}\nevent: run.tick\ndata: ${JSON.stringify({ seq })}\n\n`;

function sendWelcome(response: ServerResponse, seq: number): ServerResponse {
  response.writeHead(200, { "content-type": "text/event-stream" }).write(welcome(seq));
  return response;
}

/** The numbers of so many events. */
async function take(events: AsyncGenerator<{ seq: number }>, count: number): Promise<number[]> {
  const seen: number[] = [];
  for await (const { seq } of events) if (seen.push(seq) === count) break;
  return seen;
}

test("over lost connections every event is told once and in order, and leaving ends the connection", async () => {
  const { log, visits } = await serve(({ response }, round) => {
    if (round === 1) sendWelcome(response, 7).write(event(8) + event(9), () => response.destroy());
    // Cut in the middle of an event, which is then told by the next.
    if (round === 2) sendWelcome(response, 9).write(event(10) + event(11).slice(0, 20), () => response.destroy());
    if (round === 3) response.writeHead(503).end();
    if (round === 4) response.writeHead(502).end("<html>");
    // One that repeats itself.
    if (round === 5) sendWelcome(response, 10).write(event(10) + event(11));
  });
  expect(await take(log.follow(7), 4)).toEqual([8, 9, 10, 11]);
  expect(visits.map(({ after }) => after)).toEqual(["7", "9", "10", "10", "10"]);
  await waitUntil("the connection to end", () => visits[4]?.gone);
});

test("whoever is cut off before the first event goes on from where the log was", async () => {
  const { log, visits } = await serve(({ response }, round) => {
    sendWelcome(response, 41);
    if (round === 1) response.end();
    else response.write(event(42));
  });
  expect(await take(log.follow(undefined), 1)).toEqual([42]);
  expect(visits.map(({ after }) => after)).toEqual([null, "41"]);
});

test("what a call shows is told in its place to whoever asks for it, and is no event", async () => {
  const shown = (text: string) =>
    `event: tool_progress\ndata: ${JSON.stringify({ type: "tool_progress", callId: "c", text, runId: "r" })}\n\n`;
  const { log, visits } = await serve(({ response }, round) => {
    if (round !== 2) sendWelcome(response, 3).write(event(4) + shown("one") + shown("two") + event(5));
    else sendWelcome(response, 4).write(shown("three") + event(6));
  });
  const told: (number | string)[] = [];
  for await (const item of log.followWithProgress(3, { progress: true })) {
    if (told.push("seq" in item ? item.seq : item.text) === 4) break;
  }
  expect(told).toEqual([4, "one", "two", 5]);
  expect(await log.readEnd(new AbortController().signal)).toBe(4);
  expect(await take(log.follow(3), 2)).toEqual([4, 5]);
  expect(visits.map(({ progress }) => progress)).toEqual(["1", null, null]);
});

test("where the log ends is asked with a connection that is not kept", async () => {
  const { log, visits } = await serve(({ response }) => sendWelcome(response, 12));
  expect(await log.readEnd(new AbortController().signal)).toBe(12);
  await waitUntil("the connection to end", () => visits[0]?.gone);
});

test("a host that says no is not asked again", async () => {
  const body = JSON.stringify({ error: { code: "not_found", message: "There is no agent “alice” in global." } });
  const { log, visits } = await serve(({ response }) => response.writeHead(404).end(body));
  await expect(take(log.follow(0), 1)).rejects.toMatchObject({
    code: "not_found",
    message: "There is no agent “alice” in global.",
  });
  expect(visits).toHaveLength(1);
});

test("a host that stays away is waited for so long and no longer", async () => {
  const { log, visits } = await serve(({ response }) => response.destroy(), { retryTimeoutMs: 300 });
  await expect(take(log.follow(0), 1)).rejects.toMatchObject({ code: "unavailable" });
  expect(visits.length).toBeGreaterThan(1);
});

test("neither how long nothing happened nor an earlier absence counts against a host that went away just now", async () => {
  const { log } = await serve(
    ({ response }, round) => {
      sendWelcome(response, 3);
      if (round <= 2) setTimeout(() => response.destroy(), 150);
      else response.write(event(4));
    },
    { retryTimeoutMs: 100 },
  );
  expect(await take(log.follow(3), 1)).toEqual([4]);
});

test("a line that has gone dead is given up for another", async () => {
  const { log, visits } = await serve(
    ({ response }, round) => {
      sendWelcome(response, 3);
      if (round === 2) response.write(event(4));
    },
    { silence: 50 },
  );
  expect(await take(log.follow(3), 1)).toEqual([4]);
  await waitUntil("the dead line to end", () => visits[0]?.gone);
});

test("whoever stops waiting is told their own reason, and the connection ends", async () => {
  const { log, visits } = await serve(({ response }) => sendWelcome(response, 3));
  const stop = new AbortController();
  const waiting = take(log.follow(3, stop.signal), 1);
  await waitUntil("a visit", () => visits[0]);
  stop.abort(new Error("enough"));
  await expect(waiting).rejects.toThrow("enough");
  await waitUntil("the connection to end", () => visits[0]?.gone);
});
