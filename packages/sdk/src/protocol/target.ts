import { globalAgency } from "./defaults.ts";
import { fail } from "./errors.ts";
import { findNameIssue, nameRules } from "./names.ts";

export interface AgentTarget {
  kind: "agent";
  agent: string;
  agency: string;
}

export interface AgencyTarget {
  kind: "agency";
  agency: string;
}

const forms = "write alice, alice@review, alice@review:pr-123 or @review";

/** Reads what a person types to name an agent or an agency. */
export function parseTarget(text: string): AgentTarget | AgencyTarget {
  if (text === "") throw fail("bad_request", `A target is missing; ${forms}.`);
  if (text.startsWith("#")) {
    throw fail("bad_request", `“${text}” is a channel; here an agent or an agency is wanted.`);
  }
  const [agent = "", agency, ...more] = text.split("@");
  if (more.length > 0) throw fail("bad_request", `“${text}” has more than one “@”; ${forms}.`);
  if (agency === "") throw fail("bad_request", `“${text}” has no agency after the “@”; ${forms}.`);
  if (agency !== undefined) checkName("agency", agency);
  if (agent === "") return { kind: "agency", agency: agency ?? globalAgency };
  if (agent.includes(":")) {
    throw fail(
      "bad_request",
      `“${text}” has a tag but no agency; a tag belongs behind one, as in alice@review:pr-123.`,
    );
  }
  checkName("agent", agent);
  return { kind: "agent", agent, agency: agency ?? globalAgency };
}

export function parseAgentTarget(text: string): AgentTarget {
  const target = parseTarget(text);
  if (target.kind === "agent") return target;
  throw fail("bad_request", `“${text}” is an agency; say which agent in it, as in alice${text}.`);
}

/** An agency as `@review`; nothing at all means the global one. */
export function parseAgencyTarget(text: string | undefined): AgencyTarget {
  if (text === undefined) return { kind: "agency", agency: globalAgency };
  const target = parseTarget(text);
  if (target.kind === "agency") return target;
  const meant = target.agency === globalAgency ? target.agent : target.agency;
  throw fail("bad_request", `“${text}” is an agent; an agency is written with an “@”, as in @${meant}.`);
}

/** Where only an agency can be meant the “@” may be left out. */
export function parseAgencyId(text: string): string {
  const id = text.replace(/^@/, "");
  checkName("agency", id);
  return id;
}

function checkName(what: "agency" | "agent", name: string): void {
  const problem = findNameIssue(nameRules[what], name);
  if (problem) throw fail("bad_request", `“${name}” cannot name an ${what}: ${problem}.`);
}
