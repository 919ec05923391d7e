import { fail, type ThinkeryError } from "@thinkery/sdk";
import { findNearest } from "@thinkery/sdk/internal";
import { findNodeAtLocation, getNodeValue, type Node, type ParseError, parseTree } from "jsonc-parser";
import type { z } from "zod";
import { findClosestNode, findKeyNode, formatPosition, formatSyntaxError, getIssuePath } from "./json-position.ts";
import { configSchema, getKeysAt } from "./schema.ts";

/** Parses and validates a configuration file. `file` is its name in error messages. */
export function parseConfig(file: string, text: string): Record<string, unknown> {
  const content = text.replace(/^\uFEFF/, "");
  const errors: ParseError[] = [];
  const root = parseTree(content, errors, { allowTrailingComma: true, allowEmptyContent: true });
  const [syntaxError] = errors;
  if (syntaxError) throw toSyntaxError(file, content, syntaxError);
  if (!root) return {};

  const value: unknown = getNodeValue(root);
  const parsed = configSchema.safeParse(value);
  const issue = parsed.error?.issues[0];
  if (issue) throw toValueError(file, content, root, issue);
  // Without defaults: a default of an earlier file must not override a value of a later one.
  return value as Record<string, unknown>;
}

function toSyntaxError(file: string, text: string, error: ParseError): ThinkeryError {
  const position = formatPosition(text, error.offset);
  return fail("bad_request", `${file}, ${position}: invalid JSON (${formatSyntaxError(error)}).`);
}

function toValueError(file: string, text: string, root: Node, issue: z.core.$ZodIssue): ThinkeryError {
  if (issue.code === "unrecognized_keys") {
    const key = issue.keys[0] ?? "";
    const known = getKeysAt(issue.path);
    const suggestion = findNearest(key, known);
    const hint = suggestion ? `did you mean “${suggestion}”?` : `known keys: ${known.join(", ")}.`;
    const parent = findNodeAtLocation(root, getIssuePath(issue)) ?? root;
    const position = formatPosition(text, findKeyNode(parent, key)?.offset ?? parent.offset);
    return fail("bad_request", `${file}, ${position}: unknown key “${key}”; ${hint}`, suggestion ? { suggestion } : {});
  }
  const path = getIssuePath(issue);
  const node = findClosestNode(root, path);
  const key = path.map((part, index) => (typeof part === "number" ? `[${part}]` : index ? `.${part}` : part)).join("");
  const subject = key ? `invalid value for “${key}”: ` : "";
  return fail("bad_request", `${file}, ${formatPosition(text, node.offset)}: ${subject}${issue.message}.`);
}
