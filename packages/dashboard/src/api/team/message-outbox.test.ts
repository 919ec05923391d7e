import { fail } from "@thinkery/sdk";
import { expect, test, vi } from "vitest";
import { MessageOutbox } from "./message-outbox.ts";
import { createMessage } from "./team-double.ts";

type Post = ConstructorParameters<typeof MessageOutbox>[0];

test("messages are posted one after the other, and are pending until then", async () => {
  const sent: string[] = [];
  const outbox = new MessageOutbox(async ({ content }) => {
    sent.push(`${content} of ${outbox.get().length}`);
    await new Promise((resolve) => setTimeout(resolve));
    return createMessage(1);
  });
  await Promise.all([outbox.send({ content: "one" }), outbox.send({ content: "two" })]);
  expect(sent).toEqual(["one of 2", "two of 1"]);
  expect(outbox.get()).toEqual([]);
});

test("a message that failed stays with the reason, is sent again with its key, and does not stop the next", async () => {
  const post = vi.fn<Post>(async () => createMessage(1));
  post.mockRejectedValueOnce(new Error("The host is not responding."));
  const outbox = new MessageOutbox(post);
  const [failed] = await Promise.all([outbox.send({ content: "one" }), outbox.send({ content: "two" })]);
  expect(failed).toBeUndefined();
  const [pending] = outbox.get();
  expect([pending?.input.content, pending?.error?.message]).toEqual(["one", "The host is not responding."]);
  await outbox.send(pending?.input ?? { content: "" }, pending?.key);
  expect(outbox.get()).toEqual([]);
  const keys = post.mock.calls.map(([{ idempotencyKey }]) => idempotencyKey);
  expect(keys[2]).toBe(keys[0]);
  expect(keys[1]).not.toBe(keys[0]);
});

test("what did not reach the host is sent again once it is back, and what it rejected is not", async () => {
  const post = vi.fn<Post>(async () => createMessage(1));
  post.mockRejectedValueOnce(fail("unavailable", "The host is not responding."));
  post.mockRejectedValueOnce(fail("not_found", "Channel not found."));
  const outbox = new MessageOutbox(post);
  await Promise.all([outbox.send({ content: "one" }), outbox.send({ content: "two" })]);
  outbox.resend();
  await vi.waitFor(() => expect(outbox.get().map(({ input }) => input.content)).toEqual(["two"]));
  expect(post.mock.calls.map(([{ content }]) => content)).toEqual(["one", "two", "one"]);
});

test("a message that failed can be discarded", async () => {
  const outbox = new MessageOutbox(() => Promise.reject(new Error("no")));
  await outbox.send({ content: "one" }, "key");
  outbox.discard("key");
  expect(outbox.get()).toEqual([]);
});
