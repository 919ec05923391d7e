import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, onTestFinished, test } from "vitest";
import { waitUntil } from "../../../../tests/kit/wait-until.ts";
import type { JobEvent } from "../protocol/job-event.ts";
import { createClient } from "./client.ts";
import type { FollowOptions } from "./workflow-run.ts";

interface FakeRun {
  status: string;
  /** The numbers of the messages so far, by channel. */
  channels: Record<string, number[]>;
}

const startedAt = "2026-01-01T00:00:00.000Z";

/** A host with one run, whose stream is written by the test, connection by connection. */
async function serve(
  run: FakeRun,
  onConnection: (response: ServerResponse, round: number) => void,
  onMembers: () => Promise<void> | void = () => {},
) {
  let rounds = 0;
  const queries: string[] = [];
  const server = createServer(async (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? "", "http://x");
    const sendJson = (body: unknown) =>
      response.setHeader("content-type", "application/json").end(JSON.stringify(body));
    if (pathname.endsWith("/workflow/events")) {
      response.writeHead(200, { "content-type": "text/event-stream" }).write(": welcome\n\n");
      return onConnection(response, ++rounds);
    }
    if (pathname.endsWith("/workflow"))
      return sendJson({ agency: "review:1", workflow: "review", status: run.status, startedAt, result: "The end." });
    if (pathname.endsWith("/channels"))
      return sendJson({ channels: Object.keys(run.channels).map((name) => ({ name })) });
    if (pathname.endsWith("/members")) await onMembers();
    if (pathname.endsWith("/members"))
      return sendJson({
        members: [
          { kind: "user", name: "owner" },
          { kind: "agent", name: "lead", status: "working" },
        ],
      });
    const [, channel = ""] = /\/channels\/(.*)\/messages$/.exec(pathname) ?? [];
    const since = searchParams.get("since") ?? "";
    queries.push(since);
    const after = Number(/^msg-(\d+)$/.exec(since)?.[1] ?? 0);
    const numbers = (run.channels[decodeURIComponent(channel)] ?? []).filter((number) => number > after);
    const limit = Number(searchParams.get("limit"));
    const shown = searchParams.has("newest") ? numbers.slice(-limit) : numbers;
    sendJson({ messages: shown.map((number) => createMessage(number)) });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const client = createClient({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
  return { queries, follow: (options?: FollowOptions) => client.workflowRun("review:1").events(options) };
}

const createMessage = (number: number) => ({ id: `msg-${number}`, from: "lead", content: `${number}`, to: [] });
const write = (response: ServerResponse, event: object) => response.write(`data: ${JSON.stringify(event)}\n\n`);
const writeMessage = (response: ServerResponse, number: number) =>
  write(response, { type: "message", agent: "lead", message: createMessage(number) });

const describe = (event: JobEvent) =>
  event.type === "message" ? Number(event.message.content) : event.type === "done" ? event.status : event.type;

async function collect(events: AsyncGenerator<JobEvent>) {
  const seen: (string | number)[] = [];
  for await (const event of events) seen.push(describe(event));
  return seen;
}

test("messages are yielded once and in order, whether read or streamed, also over lost connections", async () => {
  const run: FakeRun = { status: "running", channels: { general: [1, 3], "@a..b": [2] } };
  const connections: boolean[] = [];
  const host = await serve(run, (response, round) => {
    if (round === 1) {
      // The first two were read already.
      for (const number of [2, 3, 4]) writeMessage(response, number);
      write(response, { type: "chunk", agent: "lead", text: "Hi" });
      void waitUntil("both channels to be read", () => host.queries.length === 2).then(() => {
        run.channels.general?.push(4, 5, 6);
        response.end();
      });
      return;
    }
    for (const number of [6, 7]) writeMessage(response, number);
    write(response, { type: "done", agent: "other", runId: "x", status: "completed", content: "" });
    write(response, { type: "done", agent: "lead", runId: "x", status: "completed", content: "", run });
  });
  const events = host.follow({ onConnection: (isConnected) => connections.push(isConnected) });
  expect(await collect(events)).toEqual(["status", 1, 2, 3, 4, "chunk", "status", 5, 6, 7, "completed", "completed"]);
  expect(connections).toEqual([false, true]);
  expect(host.queries).toEqual([startedAt, startedAt, "msg-4", "msg-4"]);
});

test("a run that is over yields its messages and how it ended", async () => {
  const host = await serve({ status: "failed", channels: { general: [1] } }, () => {});
  const events: JobEvent[] = [];
  for await (const event of host.follow()) events.push(event);
  expect(events.map(describe)).toEqual(["status", 1, "failed"]);
  expect(events.at(-1)).toMatchObject({ content: "The end.", run: { agency: "review:1" } });
});

test("a run that is stopped while it is followed has ended", async () => {
  const run: FakeRun = { status: "running", channels: {} };
  const host = await serve(run, (response) => {
    write(response, { type: "status", agent: "lead", status: { name: "lead", status: "stopped" } });
    run.status = "stopped";
    write(response, { type: "status", agent: "other", status: { name: "other", status: "stopped" } });
  });
  const seen = await collect(host.follow());
  expect([seen[0], seen.at(-1)]).toEqual(["status", "stopped"]);
});

test("only the latest of the earlier messages are yielded if so many are asked for", async () => {
  const host = await serve({ status: "stopped", channels: { a: [1, 4], b: [2, 3] } }, () => {});
  expect(await collect(host.follow({ maxEarlierMessages: 2 }))).toEqual(["status", 3, 4, "stopped"]);
  expect(await collect(host.follow({ maxEarlierMessages: 0 }))).toEqual(["status", "stopped"]);
});

test("the stream goes on if garbage is collected while the state is read", async () => {
  setFlagsFromString("--expose-gc");
  const collectGarbage = runInNewContext("gc") as () => void;
  let stream: ServerResponse | undefined;
  const host = await serve(
    { status: "running", channels: {} },
    (response) => (stream = response),
    async () => {
      for (let round = 0; round < 5; round++) {
        collectGarbage();
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
      if (stream) write(stream, { type: "done", agent: "lead", runId: "x", status: "completed", content: "", run: {} });
    },
  );
  const connections: boolean[] = [];
  expect(await collect(host.follow({ onConnection: (isConnected) => connections.push(isConnected) }))).toEqual([
    "status",
    "completed",
  ]);
  expect(connections).toEqual([]);
});

test("following ends when its signal aborts", async () => {
  const abort = new AbortController();
  const host = await serve({ status: "running", channels: {} }, () => abort.abort());
  await expect(collect(host.follow({ signal: abort.signal }))).rejects.toThrow("aborted");
});
