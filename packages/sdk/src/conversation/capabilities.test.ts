import { expect, test } from "vitest";
import type { AgentEvent } from "../protocol/event.ts";
import { AgentDouble } from "./agent-double.ts";
import { ReaderDouble } from "./reader-double.ts";
import { backfillEvents } from "./reduce.ts";

/** An agent whose code is running, and a connected reader. */
function startCode(): { agent: AgentDouble; reader: ReaderDouble } {
  const agent = new AgentDouble();
  const reader = new ReaderDouble(agent);
  agent.sendMessage("q1", "Run it.", "queue");
  agent.startStep();
  agent.finishStep(["executeCode"]);
  return { agent, reader };
}

const getCall = ({ conversation }: ReaderDouble) => conversation.entries.at(-1)?.calls[0];
const listCapabilities = (reader: ReaderDouble) =>
  getCall(reader)?.capabilities?.map(({ name, state, input, summary, error }) => [
    name,
    state,
    input,
    summary ?? error,
  ]);

test("calls made by code are shown live with the tool call that runs it", () => {
  const { agent, reader } = startCode();
  expect(getCall(reader)?.capabilities).toBeUndefined();
  agent.callFromCode("readFile", { path: "a" });
  agent.callFromCode("fetch", { url: "x" });
  expect(listCapabilities(reader)).toEqual([
    ["readFile", "running", '{"path":"a"}', undefined],
    ["fetch", "running", '{"url":"x"}', undefined],
  ]);
  agent.finishCodeCall("denied", { failed: true, latest: true });
  agent.finishCodeCall("3 lines");
  expect(listCapabilities(reader)).toEqual([
    ["readFile", "done", '{"path":"a"}', "3 lines"],
    ["fetch", "failed", '{"url":"x"}', "denied"],
  ]);
  expect(getCall(reader)?.capabilities?.map(({ ms, errorCode }) => [ms, errorCode])).toEqual([
    [1, undefined],
    [1, "threw"],
  ]);
});

test("a reader that connects later gets the same calls from the log", () => {
  const { agent, reader } = startCode();
  agent.callFromCode("readFile", {});
  agent.callFromCode("fetch", {});
  agent.finishCodeCall("one");
  const late = new ReaderDouble(agent);
  expect(getCall(late)).toEqual(getCall(reader));
  agent.finishCodeCall("two");
  expect(getCall(late)).toEqual(getCall(reader));
  agent.finishCall("done", false);
  expect(getCall(new ReaderDouble(agent))).toEqual(getCall(reader));
});

test("a late backfill does not override what was received since", () => {
  const { agent, reader } = startCode();
  agent.callFromCode("first", { a: 1 });
  agent.callFromCode("second", { b: 2 });
  const before = [...agent.events];
  const late = new ReaderDouble(agent);
  // As if the log had not been loaded yet when the results arrived.
  late.conversation = { ...late.conversation, capabilities: {} };
  agent.finishCodeCall("second's", { latest: true });
  expect(listCapabilities(late)).toEqual([["second", "done", "", "second's"]]);
  agent.callFromCode("third", {});
  late.conversation = backfillEvents(late.conversation, before);
  expect(listCapabilities(late)).toEqual([
    ["first", "running", '{"a":1}', undefined],
    ["second", "done", '{"b":2}', "second's"],
    ["third", "running", "{}", undefined],
  ]);
  expect(listCapabilities(late)).toEqual(listCapabilities(reader));
});

test("nothing is running inside a call that has ended, even if events were missed", () => {
  const { agent, reader } = startCode();
  agent.callFromCode("slow", {});
  agent.finishCall("took too long", true);
  expect(listCapabilities(reader)).toEqual([["slow", "abandoned", "{}", undefined]]);
  const other = startCode();
  other.agent.callFromCode("slow", {});
  other.reader.receive({ type: "task-canceled", taskId: other.agent.running ?? "" });
  expect(getCall(other.reader)).toMatchObject({ abandoned: true, capabilities: [{ state: "abandoned" }] });
});

test("progress is shown while a call runs, bounded, and removed when it ends", () => {
  const { agent, reader } = startCode();
  agent.sendProgress("");
  expect(getCall(reader)).not.toHaveProperty("progress");
  agent.sendProgress("Waiting for a sandbox.\n");
  agent.sendProgress("one\n");
  expect(getCall(reader)?.progress).toBe("Waiting for a sandbox.\none\n");
  for (let line = 0; line < 5000; line++) agent.sendProgress(`line ${line}\n`);
  const progress = getCall(reader)?.progress ?? "";
  expect(progress.length).toBeLessThanOrEqual(20_000);
  expect(progress.startsWith("line ") && progress.endsWith("line 4999\n")).toBe(true);
  agent.sendProgress(`${"🙂".repeat(20_000)}!`);
  expect(getCall(reader)?.progress?.isWellFormed()).toBe(true);
  agent.finishCall("done", false);
  expect(getCall(reader)).not.toHaveProperty("progress");
  agent.sendProgress("too late", getCall(reader)?.id ?? "");
  expect(getCall(reader)).not.toHaveProperty("progress");
});

test("progress survives a lost connection, and includes that of tools called by code", () => {
  const { agent, reader } = startCode();
  agent.sendProgress("one\n");
  reader.disconnect();
  agent.sendProgress("two\n");
  reader.connect();
  agent.callFromCode("sandbox", {});
  agent.sendProgress("three\n", agent.codeCalls[0]?.id);
  agent.sendProgress("unknown\n", "elsewhere");
  expect(getCall(reader)?.progress).toBe("one\nthree\n");
});

test("the kind of a failure and the duration of a call are known after a reload", () => {
  const { agent, reader } = startCode();
  agent.finishCall("It broke.", true);
  expect(getCall(reader)?.result).toMatchObject({ failed: true, errorCode: "threw", ms: 1 });
  expect(getCall(new ReaderDouble(agent))?.result).toMatchObject({ failed: true, errorCode: "threw", ms: 1 });
  reader.disconnect();
  reader.connect();
  expect(getCall(reader)?.result).toMatchObject({ errorCode: "threw", ms: 1 });
});

test("the number of calls made by code is bounded, and long inputs are shortened", () => {
  const { agent, reader } = startCode();
  for (let count = 0; count < 1100; count++) agent.callFromCode("fetch", { url: "x".repeat(2000) });
  const { capabilities } = reader.conversation;
  const [all] = Object.values(capabilities);
  expect(all?.length).toBe(1000);
  expect(all?.every(({ input }) => input.length <= 300)).toBe(true);
  expect(all?.at(-1)?.id).toBe((agent.events.at(-1) as Extract<AgentEvent, { type: "capability.called" }>).data.callId);
});
