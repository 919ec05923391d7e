import { expect, test } from "vitest";
import { createTag } from "./run-flags.ts";
import { isWorkflowFile, parseWorkflowSource } from "./workflow-source.ts";

test("files are told from agents and from names of workflows", () => {
  for (const file of ["wf.yaml", "a/wf.YML", "wf.json", "./wf", "../wf", "/tmp/wf", "~/wf", "a\\b"])
    expect([file, isWorkflowFile(file)]).toEqual([file, true]);
  for (const name of ["alice", "alice/researcher", "alice@review:pr-1", "yaml", "my.agent"])
    expect([name, isWorkflowFile(name)]).toEqual([name, false]);
  expect(parseWorkflowSource("flows/review")).toEqual({ kind: "file", file: "flows/review" });
  expect(parseWorkflowSource("review")).toEqual({ kind: "stored", name: "review" });
  expect(() => parseWorkflowSource("my review")).toThrow("“my review” is neither a workflow file nor the name");
});

test("tags say when the run began, and do not repeat", () => {
  const now = new Date(2026, 5, 1, 9, 5);
  const tags = Array.from({ length: 200 }, () => createTag(now));
  for (const tag of tags) expect(tag).toMatch(/^2026-06-01-0905-[a-z2-9]{4}$/);
  expect(new Set(tags).size).toBeGreaterThan(195);
});
