import { expect, test } from "vitest";
import type { ModelPart } from "../../model/model.ts";
import type { CodeModelRequest, CodeScope } from "./code-scope.ts";
import { ModelStreams } from "./model-streams.ts";

function openStreams(stream: (request: CodeModelRequest, signal: AbortSignal) => AsyncIterable<ModelPart[]>) {
  const completed: [string, unknown][] = [];
  const scope = { signal: new AbortController().signal, streamModel: stream } as unknown as CodeScope;
  const streams = new ModelStreams({
    scope,
    readBlob: async (hash) => (hash === "known" ? { mediaType: "image/png", data: new Uint8Array([1]) } : undefined),
    onComplete: (key, parts) => void completed.push([key, parts]),
  });
  return { streams, completed };
}

async function* yieldParts(...batches: ModelPart[][]): AsyncGenerator<ModelPart[]> {
  for (const parts of batches) yield parts;
}

const ask = { messages: [{ role: "user" as const, content: "Hello" }] };
const usage = { inputTokens: 1, outputTokens: 2 };

test("code that reads slowly gets everything at once, with texts merged", async () => {
  const finish: ModelPart = { type: "finish", reason: "stop", usage };
  const { streams, completed } = openStreams(() =>
    yieldParts(
      [{ type: "text", text: "a" }],
      [{ type: "text", text: "b" }],
      [{ type: "reasoning", text: "hm" }, finish],
    ),
  );
  const { id } = await streams.open(ask, "key");
  await expect.poll(() => completed.length).toBe(1);
  const parts = [
    { type: "text", text: "ab" },
    { type: "thinking", text: "hm" },
    { type: "finish", reason: "stop", usage },
  ];
  expect(await streams.read(id)).toEqual({ parts });
  expect(completed).toEqual([["key", parts]]);
  await expect(streams.read(id)).rejects.toThrow("read to its end");
});

test("an error of the model comes after what it had said", async () => {
  const { streams, completed } = openStreams(async function* () {
    yield [{ type: "text", text: "half" }];
    throw new Error("gone");
  });
  const { id } = await streams.open(ask, "key");
  expect(await streams.read(id)).toEqual({ parts: [{ type: "text", text: "half" }] });
  await expect(streams.read(id)).rejects.toThrow("gone");
  expect(completed).toEqual([]);
});

test("closing a stream ends its call", async () => {
  let ending: AbortSignal | undefined;
  const { streams } = openStreams(async function* (_, signal) {
    ending = signal;
    yield [{ type: "text", text: "a" }];
    await new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason as Error)));
  });
  const { id } = await streams.open(ask, "key");
  await streams.read(id);
  streams.close(id);
  expect(ending?.aborted).toBe(true);
  await expect(streams.read(id)).rejects.toThrow("closed");
});

test("what a provider needs back goes by an id, and images by the hash of an attachment", async () => {
  const requests: CodeModelRequest[] = [];
  const replay = { adapter: "x", data: { signature: "s" } };
  const { streams } = openStreams((request) => {
    requests.push(request);
    return yieldParts([
      { type: "replay", replay },
      { type: "finish", reason: "stop" },
    ]);
  });
  const { id } = await streams.open(ask, "one");
  const { parts } = await streams.read(id);
  const replayId = parts.flatMap((part) => (part.type === "finish" ? part.replayId : []))[0] as string;
  const image = { type: "image" as const, attachment: "known" };
  await streams.open(
    {
      messages: [
        { role: "user", content: [image] },
        { role: "assistant", content: "a", replayId },
        { role: "tool", callId: "c", name: "t", content: "x", isError: true },
      ],
      temperature: 0.5,
    },
    "two",
  );
  expect(requests[1]).toEqual({
    model: "primary",
    system: "",
    tools: [],
    settings: { temperature: 0.5 },
    messages: [
      { role: "user", content: [{ type: "image", mediaType: "image/png", data: new Uint8Array([1]) }] },
      { role: "assistant", content: "a", replay },
      { role: "tool", callId: "c", name: "t", content: "x", failed: true },
    ],
  });
  const unknown = { messages: [{ role: "user" as const, content: [{ ...image, attachment: "other" }] }] };
  await expect(streams.open(unknown, "three")).rejects.toThrow("There is no attachment “other”.");
  await expect(streams.open({ ...ask, model: "quick" }, "four")).rejects.toThrow("There is no model “quick”.");
});

test("a recorded call is read like any other, without calling the model", async () => {
  const { streams } = openStreams(() => {
    throw new Error("called");
  });
  const { id } = streams.replay([{ type: "text", text: "a" }]);
  expect(await streams.read(id)).toEqual({ parts: [{ type: "text", text: "a" }] });
});
