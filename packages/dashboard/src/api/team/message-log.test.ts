import type { ChannelMessage } from "@thinkery/sdk";
import { expect, onTestFinished, test, vi } from "vitest";
import { MessageLog, type LogOptions } from "./message-log.ts";
import { createLinkDouble, createMessage, listAsHost } from "./team-double.ts";

function open(stored: ChannelMessage[], options: Partial<LogOptions> = {}) {
  const { link, ...double } = createLinkDouble();
  onTestFinished(link.retain());
  const load = vi.fn<LogOptions["load"]>(async (query) => listAsHost(stored, query));
  const log = new MessageLog({ link, channel: "general", load, ...options });
  const subscribe = () => log.subscribe(() => {});
  onTestFinished(subscribe());
  double.sync();
  return {
    ...double,
    log,
    load,
    subscribe,
    wait: () => vi.waitFor(() => expect(log.get().loading).toBeUndefined()),
  };
}

const createAll = (count: number) => Array.from({ length: count }, (_, index) => createMessage(index + 1));

const summarize = ({ messages, hasOlder, hasNewer }: ReturnType<MessageLog["get"]>) =>
  `${hasOlder ? "…" : ""}${messages[0]?.id ?? ""}–${messages.at(-1)?.id ?? ""}${hasNewer ? "…" : ""}`;

test("the newest page is loaded first, older ones on demand, and only the pages around the reader are kept", async () => {
  const { log, wait } = open(createAll(10_000));
  await wait();
  expect(summarize(log.get())).toBe("…msg-9941–msg-10000");
  for (let page = 0; page < 8; page++) await log.loadOlder();
  expect(summarize(log.get())).toBe("…msg-9461–msg-9860…");
  await log.loadNewer();
  expect(summarize(log.get())).toBe("…msg-9521–msg-9920…");
  await log.showLatest();
  expect(summarize(log.get())).toBe("…msg-9941–msg-10000");
});

test("a log can begin at any message, with what follows it", async () => {
  const { log, wait } = open(createAll(500), { around: "msg-200" });
  await wait();
  await vi.waitFor(() => expect(summarize(log.get())).toBe("…msg-141–msg-260…"));
});

test("messages of the channel are added as they come, also while a page loads", async () => {
  const stored = createAll(3);
  const { log, send, wait, load } = open(stored);
  await wait();
  send({ type: "message", message: createMessage(4) });
  send({ type: "message", message: createMessage(5, { channel: "other" }) });
  expect(summarize(log.get())).toBe("msg-1–msg-4");
  let respond = () => {};
  load.mockImplementationOnce(
    (query) => new Promise((resolve) => (respond = () => resolve(listAsHost(stored, query)))),
  );
  const shown = log.showLatest();
  send({ type: "message", message: createMessage(6) });
  respond();
  await shown;
  expect(log.get().messages.map(({ id }) => id)).toEqual(["msg-1", "msg-2", "msg-3", "msg-6"]);
});

test("what was missed without a connection, or while nobody looked, is read again", async () => {
  const stored = createAll(3);
  const { log, sync, setState, wait } = open(stored);
  await wait();
  setState("lost");
  stored.push(createMessage(4));
  sync();
  await vi.waitFor(() => expect(summarize(log.get())).toBe("msg-1–msg-4"));
});

test("a thread has its message and what answers it", async () => {
  const stored = [createMessage(1), createMessage(2), createMessage(3, { thread: "msg-1" })];
  const { log, send, wait } = open(stored, { thread: "msg-1" });
  await wait();
  send({ type: "message", message: createMessage(4, { thread: "msg-1" }) });
  send({ type: "message", message: createMessage(5, { thread: "msg-2" }) });
  send({ type: "message", message: createMessage(6) });
  expect(log.get().messages.map(({ id }) => id)).toEqual(["msg-1", "msg-3", "msg-4"]);
});

test("a failure is shown and can be retried, and what was loaded stays", async () => {
  const { log, load, wait } = open(createAll(100));
  await wait();
  load.mockRejectedValueOnce(new Error("The host is not responding."));
  await log.loadOlder();
  expect(log.get().error?.message).toBe("The host is not responding.");
  expect(summarize(log.get())).toBe("…msg-41–msg-100");
  await log.retry();
  expect(log.get().error).toBeUndefined();
});
