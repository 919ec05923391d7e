import type { Origin } from "@thinkery/sdk";
import { expect, test } from "vitest";
import type { CommitRequest, WorkspacePort } from "../../workspace/workspace-port.ts";
import { createFiles, createLinuxFiles } from "./files.ts";

const origin: Origin = { kind: "agent", agent: "global~ada", turn: "t", toolCall: "c", tool: "x" };

/** A call's files on a workspace that only notes commits, and the controller that aborts the call. */
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

test("an aborted call cannot commit changes", async () => {
  const { commits, ending, files } = openFiles();
  await files.commit([]);
  ending.abort(new Error("aborted"));
  await expect(files.commit([])).rejects.toThrow("aborted");
  expect(commits).toEqual([{ base: undefined, isRecorded: true }]);
});

test("changes made by a command before it was aborted are committed, and recorded by the workspace itself", async () => {
  const { commits, ending, linux } = openFiles();
  await linux.rebaseEdits([], 1);
  ending.abort();
  await linux.rebaseEdits([], 1);
  expect(commits).toEqual([
    { base: 1, isRecorded: true },
    { base: 1, isRecorded: false },
  ]);
});
