import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { waitUntil } from "../../../../tests/kit/wait-until.ts";
import { EventLogReader, type EventLogOptions } from "./event-log-reader.ts";
import { createEndpointFetch } from "./request.ts";

interface Connection {
  after: string | null;
  progress: string | null;
  response: ServerResponse;
  isClosed: boolean;
}

/** A host whose log is written by the test, connection by connection. */
async function serve(
  onConnection: (connection: Connection, round: number) => void,
  options: Partial<EventLogOptions> = {},
) {
  const connections: Connection[] = [];
  const server = createServer((request: IncomingMessage, response) => {
    const query = new URL(request.url ?? "", "http://x").searchParams;
    const connection = { after: query.get("after"), progress: query.get("progress"), response, isClosed: false };
    response.on("close", () => (connection.isClosed = true));
    connections.push(connection);
    onConnection(connection, connections.length);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const fetchEndpoint = createEndpointFetch({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
  return {
    connections,
    log: new EventLogReader({
      fetchEndpoint,
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

/** Returns the numbers of the first `count` events. */
async function take(events: AsyncGenerator<{ seq: number }>, count: number): Promise<number[]> {
  const seen: number[] = [];
  for await (const { seq } of events) if (seen.push(seq) === count) break;
  return seen;
}

test("every event is yielded once and in order across connections, and leaving the loop closes the connection", async () => {
  const { log, connections } = await serve(({ response }, round) => {
    if (round === 1) sendWelcome(response, 7).write(event(8) + event(9), () => response.destroy());
    // Cut in the middle of an event, which the next connection then sends.
    if (round === 2) sendWelcome(response, 9).write(event(10) + event(11).slice(0, 20), () => response.destroy());
    if (round === 3) response.writeHead(503).end();
    if (round === 4) response.writeHead(502).end("<html>");
    // This one repeats an event.
    if (round === 5) sendWelcome(response, 10).write(event(10) + event(11));
  });
  expect(await take(log.follow(7), 4)).toEqual([8, 9, 10, 11]);
  expect(connections.map(({ after }) => after)).toEqual(["7", "9", "10", "10", "10"]);
  await waitUntil("the connection to end", () => connections[4]?.isClosed);
});

test("a reader that is disconnected before the first event resumes from the initial position", async () => {
  const { log, connections } = await serve(({ response }, round) => {
    sendWelcome(response, 41);
    if (round === 1) response.end();
    else response.write(event(42));
  });
  expect(await take(log.follow(undefined), 1)).toEqual([42]);
  expect(connections.map(({ after }) => after)).toEqual([null, "41"]);
});

test("progress is yielded in order if requested, and is not an event", async () => {
  const progress = (text: string) =>
    `event: tool_progress\ndata: ${JSON.stringify({ type: "tool_progress", callId: "c", text, runId: "r" })}\n\n`;
  const { log, connections } = await serve(({ response }, round) => {
    if (round !== 2) sendWelcome(response, 3).write(event(4) + progress("one") + progress("two") + event(5));
    else sendWelcome(response, 4).write(progress("three") + event(6));
  });
  const items: (number | string)[] = [];
  for await (const item of log.followWithProgress(3, { progress: true })) {
    if (items.push("seq" in item ? item.seq : "text" in item ? item.text : item.type) === 4) break;
  }
  expect(items).toEqual([4, "one", "two", 5]);
  expect(await log.readEnd(new AbortController().signal)).toBe(4);
  expect(await take(log.follow(3), 2)).toEqual([4, 5]);
  expect(connections.map(({ progress }) => progress)).toEqual(["1", null, null]);
});

test("readEnd closes its connection", async () => {
  const { log, connections } = await serve(({ response }) => sendWelcome(response, 12));
  expect(await log.readEnd(new AbortController().signal)).toBe(12);
  await waitUntil("the connection to end", () => connections[0]?.isClosed);
});

test("a refused request is not retried", async () => {
  const body = JSON.stringify({ error: { code: "not_found", message: "There is no agent “alice” in global." } });
  const { log, connections } = await serve(({ response }) => response.writeHead(404).end(body));
  await expect(take(log.follow(0), 1)).rejects.toMatchObject({
    code: "not_found",
    message: "There is no agent “alice” in global.",
  });
  expect(connections).toHaveLength(1);
});

test("an unavailable host is retried until the timeout", async () => {
  const { log, connections } = await serve(({ response }) => response.destroy(), { retryTimeoutMs: 300 });
  await expect(take(log.follow(0), 1)).rejects.toMatchObject({ code: "unavailable" });
  expect(connections.length).toBeGreaterThan(1);
});

test("neither silence nor earlier downtime counts towards the timeout of an unavailable host", async () => {
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

test("a stalled connection is replaced", async () => {
  const { log, connections } = await serve(
    ({ response }, round) => {
      sendWelcome(response, 3);
      if (round === 2) response.write(event(4));
    },
    { stallTimeoutMs: 50 },
  );
  expect(await take(log.follow(3), 1)).toEqual([4]);
  await waitUntil("the stalled connection to end", () => connections[0]?.isClosed);
});

test("aborting throws the reason of the signal and closes the connection", async () => {
  const { log, connections } = await serve(({ response }) => sendWelcome(response, 3));
  const controller = new AbortController();
  const waiting = take(log.follow(3, controller.signal), 1);
  await waitUntil("a connection", () => connections[0]);
  controller.abort(new Error("enough"));
  await expect(waiting).rejects.toThrow("enough");
  await waitUntil("the connection to end", () => connections[0]?.isClosed);
});
