import { fail, listPlaceholders, type Variables, type Workflow } from "@thinkery/sdk";
import { findNearest } from "@thinkery/sdk/internal";

/** Parses the values of `--var`, as `name=value`. The last one of a name wins. */
export function parseVariables(pairs: readonly string[]): Record<string, string> {
  const entries = pairs.map((pair): [string, string] => {
    const at = pair.indexOf("=");
    if (at < 1) throw fail("bad_request", `“${pair}” is not a variable. Pass --var name=value.`);
    return [pair.slice(0, at), pair.slice(at + 1)];
  });
  return Object.fromEntries(entries);
}

/** Throws if the workflow has no such variables. */
export function checkVariables(workflow: Workflow, given: Variables): void {
  const used = listPlaceholders(workflow).flatMap((name) => (name.startsWith("vars.") ? name.slice(5) : []));
  const known = [...new Set([...Object.keys(workflow.vars ?? {}), ...used])];
  const unknown = Object.keys(given).find((name) => !known.includes(name));
  if (unknown === undefined) return;
  const suggestion = findNearest(unknown, known);
  const hint = suggestion
    ? `Did you mean --var ${suggestion}=…?`
    : known.length > 0
      ? `Its variables are ${known.join(", ")}.`
      : "It has none.";
  throw fail(
    "bad_request",
    `The workflow ${workflow.name} has no variable “${unknown}”. ${hint}`,
    suggestion ? { suggestion } : {},
  );
}
