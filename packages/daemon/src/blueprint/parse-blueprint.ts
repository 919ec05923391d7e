import { type Blueprint, blueprintSchema, fail, type ListedBlueprint } from "@thinkery/sdk";
import { stringify } from "yaml";
import { describeSchemaIssue } from "../workflow/describe-schema-issue.ts";
import { createWorkflowError } from "../workflow/workflow-issue.ts";
import { YamlSource } from "../yaml/yaml-source.ts";

/** Parses a blueprint in YAML or JSON. Throws one error with everything that is wrong. `file` is its name in errors. */
export function parseBlueprint(file: string, text: string): Blueprint {
  const source = new YamlSource(file, text);
  const toIssue = (path: (string | number)[], message: string, offset: number) => ({
    path,
    message,
    offset,
    file,
    position: source.formatPosition(offset),
  });
  if (source.syntaxIssues.length > 0) {
    const language = file.toLowerCase().endsWith(".json") ? "JSON" : "YAML";
    throw createWorkflowError(
      source.syntaxIssues.map(({ message, offset }) => toIssue([], `invalid ${language}: ${message}`, offset)),
    );
  }
  const value = source.toValue();
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw fail("bad_request", `${file}: expected a blueprint, which is a map with name, prompt and tags.`);
  const parsed = blueprintSchema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw createWorkflowError(
    parsed.error.issues.flatMap((issue) => {
      const isKey = issue.code === "unrecognized_keys" || issue.code === "invalid_key";
      return describeSchemaIssue(issue, blueprintSchema).map(({ path, message }) =>
        toIssue(path, message, isKey ? source.findKeyOffset(path) : source.findOffset(path)),
      );
    }),
  );
}

/** Formats a blueprint as a file that `parseBlueprint` reads. */
export function formatBlueprint({ source: _source, warnings: _warnings, ...blueprint }: ListedBlueprint): string {
  return stringify(blueprint, { lineWidth: 0 });
}
