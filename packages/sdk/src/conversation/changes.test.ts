import { expect, test } from "vitest";
import type { AgentEvent } from "../protocol/event.ts";
import { AgentDouble } from "./agent-double.ts";
import { ReaderDouble } from "./reader-double.ts";
import { receive } from "./receive.ts";
import { backfillEvents } from "./reduce.ts";

const listCalls = ({ conversation }: ReaderDouble) => conversation.entries.flatMap((entry) => entry.calls);
const createChange = (seq: number, version: number, toolCall: string | undefined, path: string) =>
  ({
    type: "files.changed",
    seq,
    ts: new Date(seq).toISOString(),
    threadId: "double",
    data: {
      version,
      origin: toolCall === undefined ? { kind: "user", user: "eve" } : { kind: "agent", toolCall },
      changes: [{ path, kind: "edit" }],
    },
  }) satisfies AgentEvent;

/** An agent with two running calls, and a connected reader. */
function startCalls(): { agent: AgentDouble; reader: ReaderDouble; ids: string[] } {
  const agent = new AgentDouble();
  const reader = new ReaderDouble(agent);
  agent.sendMessage("q1", "Write it.", "queue");
  agent.startStep();
  agent.finishStep(["writeFile", "bash"]);
  return { agent, reader, ids: agent.openCalls.map(({ id }) => id) };
}

test("changes are shown once and in order with their call, live or backfilled, and other calls are untouched", () => {
  const { reader, ids } = startCalls();
  const [first, second] = listCalls(reader);
  const before = reader.conversation;
  const [earlier, later] = [createChange(90, 7, ids[1], "b.txt"), createChange(91, 8, ids[1], "c.txt")];
  const both = {
    ...second,
    changed: [
      { version: 7, by: "agent", changes: [{ path: "b.txt", kind: "edit" }], more: 0 },
      { version: 8, by: "agent", changes: [{ path: "c.txt", kind: "edit" }], more: 0 },
    ],
  };
  // Live changes are later than backfilled ones.
  reader.conversation = backfillEvents(receive(before, later), [earlier, later]);
  expect(listCalls(reader)).toEqual([first, both]);
  expect(listCalls(reader)[0]).toBe(first);
  reader.conversation = backfillEvents(receive(before, later), [earlier]);
  expect(listCalls(reader)).toEqual([first, both]);
});

test("changes by a call that code made are shown with the tool call that runs the code", () => {
  const { agent, reader, ids } = startCalls();
  agent.callFromCode("writeFile", {});
  reader.conversation = receive(reader.conversation, createChange(90, 3, agent.codeCalls[0]?.id, "inside.txt"));
  expect(listCalls(reader).map(({ id, changed }) => [id, changed?.length])).toEqual([
    [ids[0], 1],
    [ids[1], undefined],
  ]);
});

test("a version by a user belongs to no call, but readers are notified", () => {
  const { reader } = startCalls();
  const before = reader.conversation.entries;
  reader.conversation = receive(reader.conversation, createChange(90, 4, undefined, "notes.md"));
  expect(reader.conversation.entries).toBe(before);
  expect(reader.conversation.lastChanged).toEqual({
    version: 4,
    by: "user",
    changes: [{ path: "notes.md", kind: "edit" }],
    more: 0,
  });
});
