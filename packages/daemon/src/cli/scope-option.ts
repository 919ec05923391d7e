import { fail, type Scope, scopes } from "@thinkery/sdk";
import { Option } from "commander";

export const createScopeOption = (defaultScope: Scope) =>
  new Option(
    "--scope <scope>",
    `permission, repeatable or separated by commas: ${scopes.join(", ")} (default: ${defaultScope})`,
  ).argParser(collectScope);

function collectScope(text: string, previous: Scope[] = []): Scope[] {
  const given = text.split(",").map((name) => {
    const scope = scopes.find((known) => known === name.trim());
    if (!scope) throw fail("bad_request", `“${name}” is not a scope. Use one of ${scopes.join(", ")}.`);
    return scope;
  });
  return [...new Set([...previous, ...given])];
}
