import { type ValidationIssue, type Workflow, workflowSchema } from "@thinkery/sdk";
import { YamlSource } from "../yaml/yaml-source.ts";
import { checkNames } from "./check-names.ts";
import { describeSchemaIssue } from "./describe-schema-issue.ts";
import type { WorkflowIssue } from "./workflow-issue.ts";

interface ParsedWorkflow {
  source: YamlSource;
  /** What the file has, as far as it can be read. Its shape is not checked. */
  value: unknown;
  /** Absent if it does not match the schema. */
  workflow?: Workflow;
  issues: WorkflowIssue[];
}

/** Parses a workflow file, in YAML or JSON, and finds everything that is wrong with it by itself. */
export function parseWorkflow(file: string, text: string): ParsedWorkflow {
  const source = new YamlSource(file, text, { allowsDuplicates: true });
  const toIssue = (path: ValidationIssue["path"], message: string, offset: number): WorkflowIssue => ({
    path,
    message,
    offset,
    file,
    position: source.formatPosition(offset),
  });
  if (source.syntaxIssues.length > 0) {
    const language = file.toLowerCase().endsWith(".json") ? "JSON" : "YAML";
    const issues = source.syntaxIssues.map(({ message, offset }) =>
      toIssue([], `invalid ${language}: ${message}`, offset),
    );
    return { source, value: undefined, issues };
  }
  const value = source.toValue();
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    return { source, value, issues: [toIssue([], "expected a workflow: a map with name and agents", 0)] };
  }

  const duplicates = source.findDuplicates().map(({ path, offset, firstOffset }) => {
    const message = `defined twice, first on ${source.formatPosition(firstOffset)}`;
    return toIssue(path, message, offset);
  });
  const names = checkNames(value).map(({ path, message, isKey, part }) => {
    const offset = isKey
      ? source.findKeyOffset(path)
      : part
        ? source.findTextOffset(path, part)
        : source.findOffset(path);
    return toIssue(path, message, offset);
  });
  const parsed = workflowSchema.safeParse(value);
  const issues = (parsed.error?.issues ?? []).flatMap((issue) => {
    const isKey = issue.code === "unrecognized_keys" || issue.code === "invalid_key";
    return describeSchemaIssue(issue).map(({ path, message }) =>
      toIssue(path, message, isKey ? source.findKeyOffset(path) : source.findOffset(path)),
    );
  });
  return {
    source,
    value,
    ...(parsed.success ? { workflow: parsed.data } : {}),
    issues: [...duplicates, ...names, ...issues],
  };
}
