import type { Origin } from "@thinkery/sdk";
import { expect, test } from "vitest";
import type { Workspace } from "../../workspace/workspace.ts";
import { filesFor, linuxFilesFor } from "./files.ts";

const origin: Origin = { kind: "agent", agent: "global~ada", turn: "t", toolCall: "c", tool: "x" };

/** What was asked of a workspace, by a call that was given up at some time. */
function opened() {
  const asked: [what: string, recorded: boolean][] = [];
  const workspace = {
    limits: { fileMb: 1 },
    commit: (_: unknown, __: unknown, options: object) => void asked.push(["commit", "record" in options]),
    land: (_: unknown, __: unknown, ___: unknown, options: object) => void asked.push(["land", "record" in options]),
  } as unknown as Workspace;
  const ending = new AbortController();
  const call = { origin, signal: ending.signal, record() {} };
  return { asked, ending, files: filesFor(workspace, call), linux: linuxFilesFor(workspace, call) };
}

test("a call that was given up changes nothing any more", () => {
  const { asked, ending, files } = opened();
  files.commit([]);
  ending.abort(new Error("given up"));
  expect(() => files.commit([])).toThrow("given up");
  expect(asked).toEqual([["commit", true]]);
});

test("what a command had done when it was given up is still told, by the workspace itself", () => {
  const { asked, ending, linux } = opened();
  void linux.land([], 1);
  ending.abort();
  void linux.land([], 1);
  expect(asked).toEqual([["land", true], ["land", false]]);
});
