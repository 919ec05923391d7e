import { expect, test } from "vitest";
import type { AgentEvent } from "../protocol/event.ts";
import { AgentDouble } from "./agent-double.ts";
import { ReaderDouble } from "./reader-double.ts";
import { receive } from "./receive.ts";
import { recallEvents } from "./reduce.ts";

const listCalls = ({ now }: ReaderDouble) => now.entries.flatMap((entry) => entry.calls);
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

/** An agent with two calls under way, and somebody who looks on. */
function startCalls(): { agent: AgentDouble; reader: ReaderDouble; ids: string[] } {
  const agent = new AgentDouble();
  const reader = new ReaderDouble(agent);
  agent.say("q1", "Write it.", "queue");
  agent.startStep();
  agent.finishStep(["writeFile", "bash"]);
  return { agent, reader, ids: agent.open.map(({ id }) => id) };
}

test("what a call changed is shown with it, once and in order, whether it is heard or recalled; other calls stay the same objects", () => {
  const { reader, ids } = startCalls();
  const [first, second] = listCalls(reader);
  const before = reader.now;
  const [earlier, later] = [createChange(90, 7, ids[1], "b.txt"), createChange(91, 8, ids[1], "c.txt")];
  const both = {
    ...second,
    changed: [
      { version: 7, by: "agent", changes: [{ path: "b.txt", kind: "edit" }], more: 0 },
      { version: 8, by: "agent", changes: [{ path: "c.txt", kind: "edit" }], more: 0 },
    ],
  };
  // What was heard while we looked on is later than what is recalled from before.
  reader.now = recallEvents(receive(before, later), [earlier, later]);
  expect(listCalls(reader)).toEqual([first, both]);
  expect(listCalls(reader)[0]).toBe(first);
  reader.now = recallEvents(receive(before, later), [earlier]);
  expect(listCalls(reader)).toEqual([first, both]);
});

test("what code changed through a call of its own is shown with the call that runs the code", () => {
  const { agent, reader, ids } = startCalls();
  agent.callWithin("writeFile", {});
  reader.now = receive(reader.now, createChange(90, 3, agent.within[0]?.id, "inside.txt"));
  expect(listCalls(reader).map(({ id, changed }) => [id, changed?.length])).toEqual([
    [ids[0], 1],
    [ids[1], undefined],
  ]);
});

test("a version by a person belongs to no call, but readers hear of it", () => {
  const { reader } = startCalls();
  const before = reader.now.entries;
  reader.now = receive(reader.now, createChange(90, 4, undefined, "notes.md"));
  expect(reader.now.entries).toBe(before);
  expect(reader.now.lastChanged).toEqual({
    version: 4,
    by: "user",
    changes: [{ path: "notes.md", kind: "edit" }],
    more: 0,
  });
});
