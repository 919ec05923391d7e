import { type MergeResponse, type Origin, ToolError } from "@thinkery/sdk";
import { describe, expect, test } from "vitest";
import type { AgentLinux } from "../sandbox/linux.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";
import type { View } from "../sandbox/shell.ts";
import { bash } from "../tools/bash.ts";
import { createStaticSource } from "../tools/tool-source.ts";
import { Toolbox } from "../tools/toolbox.ts";
import type { MergePreview } from "../workspace/branch-merge.ts";
import type { MergeRequest, WorkspacePort } from "../workspace/workspace-port.ts";
import { CheckedMerges } from "./checked-merges.ts";

const origin: Origin = { kind: "agent", agent: "a" };
const toInfo = (path: string, hash: string) => ({ path, hash, size: 1, mediaType: "text/plain" });

interface Setup {
  /** Called while the check runs. */
  onCheck?(view: View): void | Promise<void>;
  exitCode?: number;
  error?: Error;
  policy?: { tool: string; match?: string; action: "deny" }[];
}

/** A branch that changes `a` and deletes `b`, on a target with three files. */
function open({ onCheck, exitCode = 0, error, policy = [] }: Setup = {}) {
  const versions = { source: 5, target: 3 };
  const landed: MergeRequest[] = [];
  const rules = [...policy];
  let checks = 0;
  const workspace: Partial<WorkspacePort> = {
    async previewMerge(): Promise<MergePreview> {
      return {
        into: "main",
        versions: { ...versions },
        changes: [{ path: "a", kind: "edit" }],
        overlaps: [],
        files: [{ path: "a", after: { content: "merged", info: toInfo("a", "2") } }, { path: "b" }],
      };
    },
    async changes() {
      const files = ["a", "b", "c"].map((path) => ({
        file: { ...toInfo(path, "1"), kind: "text" as const, version: 1, modifiedAt: new Date(0).toISOString() },
        text: `old ${path}`,
      }));
      return { version: versions.target, files, deleted: [] };
    },
    async merge(_, request): Promise<MergeResponse & { isStale?: boolean }> {
      const { expected } = request;
      if (expected && expected.target !== versions.target) return { isStale: true, changes: [], overlaps: [] };
      landed.push(request);
      return { changes: [{ path: "a", kind: "edit" }], overlaps: [] };
    },
  };
  const sandbox: Partial<Sandbox> = {
    async shell({ files, command }) {
      checks++;
      const view = await files.view(undefined);
      await onCheck?.(view);
      if (error) throw error;
      const result = { stdout: `ran ${command}\n`, stderr: "", notes: [], state: {} as never, version: view.version };
      return { ...result, exitCode, changes: [{ write: "artefact", content: "x" }] };
    },
  };
  const merges = new CheckedMerges({
    workspace: workspace as WorkspacePort,
    resolver: {
      resolveTools: async () => ({
        tools: new Toolbox([createStaticSource("test", [bash])]),
        config: { policy: rules },
      }),
    },
    registration: { get: () => ({}) as never },
    sandbox: sandbox as Sandbox,
    sandboxKey: "a",
    linux: {} as AgentLinux,
    checkSeconds: 7,
  });
  const merge = (more: Partial<Parameters<CheckedMerges["merge"]>[0]> = {}) =>
    merges.merge({ branch: "fork", origin, signal: new AbortController().signal, check: "npm test", ...more });
  return { merge, merges, landed, versions, rules, countChecks: () => checks };
}

test("a check sees the merged files, and what passed is what lands", async () => {
  const views: View[] = [];
  const { merge, landed } = open({ onCheck: (view) => void views.push(view) });
  expect(await merge({ key: "k" })).toMatchObject({
    check: { command: "npm test", exitCode: 0, output: "ran npm test" },
  });
  expect(views[0]?.files.map(([path, content]) => [path, content])).toEqual([
    ["c", "old c"],
    ["a", "merged"],
  ]);
  expect(landed).toMatchObject([{ key: "k", expected: { source: 5, target: 3 } }]);
});

test.each<[string, Setup, string]>([
  ["fails", { exitCode: 2 }, "the check “npm test” failed (exit code 2)."],
  ["takes too long", { error: new ToolError("timeout", "stopped") }, "the check “npm test” did not finish within 7 s."],
  ["exceeds a limit", { error: new ToolError("limit", "memory") }, "the check “npm test” failed (ended by limit)."],
  ["cannot run", { error: new ToolError("no_sandbox", "no slots") }, "the check “npm test” could not run."],
])("nothing lands if the check %s", async (_, setup, reason) => {
  const { merge, landed } = open(setup);
  expect(await merge()).toMatchObject({ reason, changes: [{ path: "a" }] });
  expect(landed).toEqual([]);
});

test("an unexpected error is no failed check", async () => {
  const { merge, landed } = open({ error: new Error("bug") });
  await expect(merge()).rejects.toThrow("bug");
  expect(landed).toEqual([]);
});

test("a dry run is checked and not made", async () => {
  const { merge, landed } = open();
  expect(await merge({ dryRun: true })).toMatchObject({ check: { exitCode: 0 } });
  expect(landed).toEqual([]);
});

describe("if the files change during the check", () => {
  test("it runs again on the new ones", async () => {
    const opened = open({ onCheck: () => void (opened.countChecks() === 1 && opened.versions.target++) });
    await opened.merge();
    expect([opened.countChecks(), opened.landed[0]?.expected?.target]).toEqual([2, 4]);
  });

  test("and always do, it is given up", async () => {
    const opened = open({ onCheck: () => void opened.versions.target++ });
    await expect(opened.merge()).rejects.toThrow("The files kept changing during the check.");
    expect([opened.countChecks(), opened.landed]).toEqual([3, []]);
  });
});

test("a rule that is added after the delegation still applies", async () => {
  const { merge, merges, landed, rules, countChecks } = open();
  await merges.authorize("npm test");
  rules.push({ tool: "bash", match: "npm", action: "deny" });
  await expect(merges.authorize("npm test")).rejects.toMatchObject({ code: "forbidden" });
  expect(await merge()).toMatchObject({
    reason: "the check “npm test” is not allowed.",
    check: { endedBy: "denied", output: expect.stringContaining("“npm”") },
  });
  expect([countChecks(), landed]).toEqual([0, []]);
});

test("checks run one at a time; a merge without one does not wait", async () => {
  let active = 0;
  const opened = open({
    async onCheck() {
      expect(++active).toBe(1);
      await new Promise((resolve) => setTimeout(resolve, 5));
      active--;
    },
  });
  const order: string[] = [];
  const merges = [
    opened.merge().then(() => order.push("first")),
    opened.merge().then(() => order.push("second")),
    opened.merges
      .merge({ branch: "fork", origin, signal: new AbortController().signal })
      .then(() => order.push("unchecked")),
  ];
  await Promise.all(merges);
  expect(order).toEqual(["unchecked", "first", "second"]);
});

test("a merge that is no longer wanted does not land after its check", async () => {
  const abort = new AbortController();
  const { merge, landed } = open({ onCheck: () => abort.abort(new Error("cancelled")) });
  await expect(merge({ signal: abort.signal })).rejects.toThrow("cancelled");
  const refused = open();
  const onLanding = () => {
    throw new Error("cancelled");
  };
  await expect(refused.merge({ onLanding })).rejects.toThrow("cancelled");
  expect([landed, refused.landed]).toEqual([[], []]);
});
