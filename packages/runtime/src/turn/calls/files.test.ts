import type { Origin } from "@thinkery/sdk";
import { expect, test } from "vitest";
import type { CommitRequest, WorkspacePort } from "../../workspace/workspace-port.ts";
import { createFiles, createLinuxFiles } from "./files.ts";

const origin: Origin = { kind: "agent", agent: "global~ada", turn: "t", toolCall: "c", tool: "x" };

/** What was asked of a workspace, by a call that was given up at some time. */
function openFiles() {
  const commits: { base: number | undefined; isRecorded: boolean }[] = [];
  const workspace = {
    limits: { maxFileMb: 1 },
    commit: async ({ base }: CommitRequest, options: object) =>
      void commits.push({ base, isRecorded: "record" in options }),
  } as unknown as WorkspacePort;
  const ending = new AbortController();
  const call = { origin, signal: ending.signal, record() {} };
  return { commits, ending, files: createFiles(workspace, call), linux: createLinuxFiles(workspace, call) };
}

test("a call that was given up changes nothing any more", async () => {
  const { commits, ending, files } = openFiles();
  await files.commit([]);
  ending.abort(new Error("given up"));
  await expect(files.commit([])).rejects.toThrow("given up");
  expect(commits).toEqual([{ base: undefined, isRecorded: true }]);
});

test("what a command had done when it was given up is still told, by the workspace itself", async () => {
  const { commits, ending, linux } = openFiles();
  await linux.rebaseEdits([], 1);
  ending.abort();
  await linux.rebaseEdits([], 1);
  expect(commits).toEqual([
    { base: 1, isRecorded: true },
    { base: 1, isRecorded: false },
  ]);
});
