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
const said = (position: number, content: string): TranscriptMessage => ({
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

/** A conversation that knows what was read of it. */
function createConversation(...spoken: TranscriptMessage[]) {
  const from: number[] = [];
  let compaction: Compaction | undefined;
  return {
    from,
    compact(next: Compaction) {
      compaction = next;
      return this;
    },
    getCompaction: () => compaction,
    readBlob: async () => new Uint8Array([1, 2, 3]),
    readAfter(after: number) {
      from.push(after);
      return spoken.filter(({ position }) => position > after);
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

test("it is only ever added to, until the conversation is compacted", async () => {
  const transcript = new Transcript();
  const conversation = createConversation(
    user(10, "one"),
    said(20, "two"),
    result(30, "r".repeat(5_000)),
    user(40, "four"),
  );
  await transcript.follow(conversation);
  const before = [...transcript.messages];
  await transcript.follow(conversation);
  expect(transcript.messages).toEqual(before);
  expect(conversation.from).toEqual([0, 40]);

  await transcript.follow(conversation.compact(compaction));
  expect(conversation.from).toEqual([0, 40, 20]);
  const [summary, shortened, last] = transcript.messages;
  expect(summary).toMatchObject({
    role: "user",
    content: expect.stringMatching(/It was long\..*word for word:\n\nGo on\./s),
  });
  expect(shortened?.content).toBe(`${"r".repeat(500)}\n[shortened; 5000 characters in all]`);
  expect(last).toEqual({ role: "user", content: "four" });
  // The same compaction again is nothing new.
  await transcript.follow(conversation.compact({ ...compaction }));
  expect(transcript.messages).toHaveLength(3);
  expect(transcript.hasSpokenSince(20)).toBe(false);
});

test("a shortened result has no picture any more", async () => {
  const transcript = new Transcript();
  const pictures = createConversation(result(10, "[picture: a dot]", "blob"), result(40, "[picture: a dot]", "blob"));
  await transcript.follow(pictures.compact({ ...compaction, upTo: 0 }));
  expect(transcript.entries.map(({ message }) => "images" in message)).toEqual([false, true]);
});

test("an image is new until the model has spoken, and can be told in words", async () => {
  const transcript = new Transcript();
  await transcript.follow(createConversation(user(10, "look", ["blob"])));
  expect(transcript.hasNewImages()).toBe(true);
  expect(transcript.toTextMessages("eyes:x")).toEqual([
    {
      role: "user",
      content: [
        { type: "text", text: "[image, image/png; eyes:x looked at it and answered.]" },
        { type: "text", text: "look" },
      ],
    },
  ]);
  expect(JSON.stringify(transcript.messages)).toContain('"type":"image"');
  await transcript.follow(createConversation(said(20, "a dot")));
  expect(transcript.hasNewImages()).toBe(false);
  await transcript.follow(createConversation(result(30, "[picture]", "blob")));
  expect(transcript.hasNewImages()).toBe(true);
  expect(transcript.toTextMessages("eyes:x").at(-1)).toMatchObject({
    content: expect.stringContaining("eyes:x looked at it"),
  });
  expect(transcript.toTextMessages("eyes:x").at(-1)).not.toHaveProperty("images");
});
