import { fail, findNameIssue, nameRules } from "@thinkery/sdk";

/** The name of a package's agent: `@team/helper` becomes `helper`. */
export function toAgentName(packageName: string): string {
  return packageName.replace(/^@[^/]*\//, "");
}

/** Returns why no agent can be named after a package, if so. */
export function explainInvalidName(packageName: string): string | undefined {
  const name = toAgentName(packageName);
  const issue = findNameIssue(nameRules.agent, name);
  if (issue === undefined) return undefined;
  const suggestion = suggestName(name);
  const hint =
    suggestion === "" ? "" : `; change it to “${packageName.slice(0, -name.length || undefined)}${suggestion}”`;
  return `the agent cannot be named “${name}”: ${issue.startsWith("Too") ? issue.slice(issue.indexOf(":") + 2) : issue}${hint}`;
}

/** Turns any text into the name of an agent. Returns an empty text if nothing remains of it. */
export function suggestName(text: string): string {
  const name = text
    .normalize("NFKD")
    .replace(/\p{M}/gu, "")
    .replace(/[^A-Za-z0-9._-]+/g, "-")
    .slice(0, nameRules.agent.maxChars)
    .replace(/^[._-]+|[._-]+$/g, "");
  return nameRules.agent.reserved.includes(name.toLowerCase()) ? `my-${name}` : name;
}

/** Returns the agent's name, or throws. */
export function checkPackageName(packageName: string): string {
  const issue = explainInvalidName(packageName);
  if (issue) throw fail("bad_request", `The package is named “${packageName}”, but ${issue}.`);
  return toAgentName(packageName);
}
