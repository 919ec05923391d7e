import { expect, test } from "vitest";
import type { AgentEvent } from "../protocol/event.ts";
import { AgentDouble } from "./agent-double.ts";
import { ReaderDouble } from "./reader-double.ts";
import { recallEvents } from "./reduce.ts";

/** An agent whose code runs, and somebody who looks on. */
function startCode(): { agent: AgentDouble; reader: ReaderDouble } {
  const agent = new AgentDouble();
  const reader = new ReaderDouble(agent);
  agent.say("q1", "Run it.", "queue");
  agent.startStep();
  agent.finishStep(["executeCode"]);
  return { agent, reader };
}

const getCall = ({ now }: ReaderDouble) => now.entries.at(-1)?.calls[0];
const listCapabilities = (reader: ReaderDouble) =>
  getCall(reader)?.capabilities?.map(({ name, state, input, summary, error }) => [
    name,
    state,
    input,
    summary ?? error,
  ]);

test("what code calls is shown with the call that runs it, as it happens", () => {
  const { agent, reader } = startCode();
  expect(getCall(reader)?.capabilities).toBeUndefined();
  agent.callWithin("readFile", { path: "a" });
  agent.callWithin("fetch", { url: "x" });
  expect(listCapabilities(reader)).toEqual([
    ["readFile", "running", '{"path":"a"}', undefined],
    ["fetch", "running", '{"url":"x"}', undefined],
  ]);
  agent.answerWithin("denied", { failed: true, latest: true });
  agent.answerWithin("3 lines");
  expect(listCapabilities(reader)).toEqual([
    ["readFile", "done", '{"path":"a"}', "3 lines"],
    ["fetch", "failed", '{"url":"x"}', "denied"],
  ]);
  expect(getCall(reader)?.capabilities?.map(({ ms, errorCode }) => [ms, errorCode])).toEqual([
    [1, undefined],
    [1, "threw"],
  ]);
});

test("whoever comes later, in the middle or at the end, learns of the same calls from the log", () => {
  const { agent, reader } = startCode();
  agent.callWithin("readFile", {});
  agent.callWithin("fetch", {});
  agent.answerWithin("one");
  const late = new ReaderDouble(agent);
  expect(getCall(late)).toEqual(getCall(reader));
  agent.answerWithin("two");
  expect(getCall(late)).toEqual(getCall(reader));
  agent.answerTool("done", false);
  expect(getCall(new ReaderDouble(agent))).toEqual(getCall(reader));
});

test("what is recalled late takes nothing back of what was heard since", () => {
  const { agent, reader } = startCode();
  agent.callWithin("first", { a: 1 });
  agent.callWithin("second", { b: 2 });
  const before = [...agent.events];
  const late = new ReaderDouble(agent);
  // As if the log had not been read yet when the answers came.
  late.now = { ...late.now, capabilities: {} };
  agent.answerWithin("second's", { latest: true });
  expect(listCapabilities(late)).toEqual([["second", "done", "", "second's"]]);
  agent.callWithin("third", {});
  late.now = recallEvents(late.now, before);
  expect(listCapabilities(late)).toEqual([
    ["first", "running", '{"a":1}', undefined],
    ["second", "done", '{"b":2}', "second's"],
    ["third", "running", "{}", undefined],
  ]);
  expect(listCapabilities(late)).toEqual(listCapabilities(reader));
});

test("a call that is over has nothing going on inside it, whatever was not heard of", () => {
  const { agent, reader } = startCode();
  agent.callWithin("slow", {});
  agent.answerTool("took too long", true);
  expect(listCapabilities(reader)).toEqual([["slow", "abandoned", "{}", undefined]]);
  const other = startCode();
  other.agent.callWithin("slow", {});
  other.reader.receive({ type: "task-canceled", taskId: other.agent.running ?? "" });
  expect(getCall(other.reader)).toMatchObject({ abandoned: true, capabilities: [{ state: "abandoned" }] });
});

test("what a call shows is there while it goes on, bounded, and gone when it is over", () => {
  const { agent, reader } = startCode();
  agent.show("");
  expect(getCall(reader)).not.toHaveProperty("progress");
  agent.show("Waiting for a sandbox.\n");
  agent.show("one\n");
  expect(getCall(reader)?.progress).toBe("Waiting for a sandbox.\none\n");
  for (let line = 0; line < 5000; line++) agent.show(`line ${line}\n`);
  const shown = getCall(reader)?.progress ?? "";
  expect(shown.length).toBeLessThanOrEqual(20_000);
  expect(shown.startsWith("line ") && shown.endsWith("line 4999\n")).toBe(true);
  agent.show(`${"🙂".repeat(20_000)}!`);
  expect(getCall(reader)?.progress?.isWellFormed()).toBe(true);
  agent.answerTool("done", false);
  expect(getCall(reader)).not.toHaveProperty("progress");
  agent.show("too late", getCall(reader)?.id ?? "");
  expect(getCall(reader)).not.toHaveProperty("progress");
});

test("what was shown stays over a lost connection, and what a tool called by code shows is shown too", () => {
  const { agent, reader } = startCode();
  agent.show("one\n");
  reader.leave();
  agent.show("two\n");
  reader.connect();
  agent.callWithin("sandbox", {});
  agent.show("three\n", agent.within[0]?.id);
  agent.show("nobody's\n", "elsewhere");
  expect(getCall(reader)?.progress).toBe("one\nthree\n");
});

test("the kind of a failure and the time a call took are known after a reload", () => {
  const { agent, reader } = startCode();
  agent.answerTool("It broke.", true);
  expect(getCall(reader)?.result).toMatchObject({ failed: true, errorCode: "threw", ms: 1 });
  expect(getCall(new ReaderDouble(agent))?.result).toMatchObject({ failed: true, errorCode: "threw", ms: 1 });
  reader.leave();
  reader.connect();
  expect(getCall(reader)?.result).toMatchObject({ errorCode: "threw", ms: 1 });
});

test("so many calls by code as no page could hold are bounded, and long inputs are cut", () => {
  const { agent, reader } = startCode();
  for (let count = 0; count < 1100; count++) agent.callWithin("fetch", { url: "x".repeat(2000) });
  const { capabilities } = reader.now;
  const [all] = Object.values(capabilities);
  expect(all?.length).toBe(1000);
  expect(all?.every(({ input }) => input.length <= 300)).toBe(true);
  expect(all?.at(-1)?.id).toBe((agent.events.at(-1) as Extract<AgentEvent, { type: "capability.called" }>).data.callId);
});
