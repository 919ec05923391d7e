import { expect, test } from "vitest";
import type { Compaction } from "../../store/facts.ts";
import type { TranscriptMessage } from "../../store/message-row.ts";
import { Transcript } from "./transcript.ts";

const user = (position: number, content: string, images: string[] = []): TranscriptMessage => ({
  position,
  turn: "t",
  role: "user",
  content,
  attachments: images.map((blob) => ({ blob, mediaType: "image/png", size: 3 })),
  toolCalls: [],
});
const response = (position: number, content: string): TranscriptMessage => ({
  position,
  turn: "t",
  step: 1,
  role: "assistant",
  content,
  attachments: [],
  toolCalls: [],
});
const result = (position: number, content: string, blob?: string): TranscriptMessage => ({
  ...user(position, content),
  role: "tool",
  toolResult: {
    callId: "c",
    name: "look",
    summary: "",
    preview: "",
    size: content.length,
    ...(blob ? { blob, mediaType: "image/png" } : {}),
  },
});

/** A conversation that records from which positions it was read. */
function createConversation(...messages: TranscriptMessage[]) {
  const reads: number[] = [];
  let compaction: Compaction | undefined;
  return {
    reads,
    compact(next: Compaction) {
      compaction = next;
      return this;
    },
    getCompaction: () => compaction,
    readBlob: async () => new Uint8Array([1, 2, 3]),
    readAfter(after: number) {
      reads.push(after);
      return messages.filter(({ position }) => position > after);
    },
  };
}

const compaction: Compaction = {
  at: 99,
  runId: "t",
  shortened: 30,
  upTo: 20,
  summary: "It was long.",
  request: "Go on.",
  after: 10,
};

test("messages are only appended until the conversation is compacted", async () => {
  const transcript = new Transcript();
  const conversation = createConversation(
    user(10, "one"),
    response(20, "two"),
    result(30, "r".repeat(5_000)),
    user(40, "four"),
  );
  await transcript.sync(conversation);
  const before = [...transcript.messages];
  await transcript.sync(conversation);
  expect(transcript.messages).toEqual(before);
  expect(conversation.reads).toEqual([0, 40]);

  await transcript.sync(conversation.compact(compaction));
  expect(conversation.reads).toEqual([0, 40, 20]);
  const [summary, truncated, last] = transcript.messages;
  expect(summary).toMatchObject({
    role: "user",
    content: expect.stringMatching(/It was long\..*verbatim:\n\nGo on\./s),
  });
  expect(truncated?.content).toBe(`${"r".repeat(500)}\n[truncated; 5000 characters in total]`);
  expect(last).toEqual({ role: "user", content: "four" });
  // The same compaction again changes nothing.
  await transcript.sync(conversation.compact({ ...compaction }));
  expect(transcript.messages).toHaveLength(3);
  expect(transcript.hasResponseAfter(20)).toBe(false);
});

test("a truncated result loses its image", async () => {
  const transcript = new Transcript();
  const conversation = createConversation(result(10, "[image: a dot]", "blob"), result(40, "[image: a dot]", "blob"));
  await transcript.sync(conversation.compact({ ...compaction, upTo: 0 }));
  expect(transcript.entries.map(({ message }) => "images" in message)).toEqual([false, true]);
});

test("an image is new until the model has responded, and can be replaced by a note", async () => {
  const transcript = new Transcript();
  await transcript.sync(createConversation(user(10, "look", ["blob"])));
  expect(transcript.hasNewImages()).toBe(true);
  expect(transcript.toTextMessages("eyes:x")).toEqual([
    {
      role: "user",
      content: [
        { type: "text", text: "[image, image/png; eyes:x looked at it and responded.]" },
        { type: "text", text: "look" },
      ],
    },
  ]);
  expect(JSON.stringify(transcript.messages)).toContain('"type":"image"');
  await transcript.sync(createConversation(response(20, "a dot")));
  expect(transcript.hasNewImages()).toBe(false);
  await transcript.sync(createConversation(result(30, "[image]", "blob")));
  expect(transcript.hasNewImages()).toBe(true);
  expect(transcript.toTextMessages("eyes:x").at(-1)).toMatchObject({
    content: expect.stringContaining("eyes:x looked at it"),
  });
  expect(transcript.toTextMessages("eyes:x").at(-1)).not.toHaveProperty("images");
});
