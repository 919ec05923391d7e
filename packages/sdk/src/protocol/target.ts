import { globalAgency } from "./default-agency.ts";
import { fail } from "./errors.ts";
import { defaultChannel, directChannelPattern, findNameIssue, maxPathLength, nameRules } from "./names.ts";

export interface AgentTarget {
  kind: "agent";
  /** The name of an agent, or the path of a sub-agent below it: `alice/subagent-task-1`. */
  agent: string;
  /** `review`, or `review@bob` for an agency of another user. */
  agency: string;
}

export interface AgencyTarget {
  kind: "agency";
  agency: string;
}

export interface ChannelTarget {
  kind: "channel";
  /** A name, or `@alice` for the direct messages with alice. */
  channel: string;
  /** `review`, or `review@bob` for an agency of another user. */
  agency: string;
}

const forms = "use alice, alice/sub-agent, alice@review, alice@review:pr-123, alice@review@bob or @review";

/** Parses the name of an agent or an agency as users type it. Without an agency, it is in the default one. */
export function parseTarget(text: string, defaultAgency = globalAgency): AgentTarget | AgencyTarget {
  if (text === "") throw fail("bad_request", `A target is missing; ${forms}.`);
  if (text.startsWith("#")) {
    throw fail("bad_request", `“${text}” is a channel; expected an agent or an agency.`);
  }
  const [agent = "", ...rest] = text.split("@");
  if (rest.length > 2) throw fail("bad_request", `“${text}” has more than two “@”; ${forms}.`);
  if (rest[0] === "") throw fail("bad_request", `“${text}” has no agency after the “@”; ${forms}.`);
  if (rest[1] === "") throw fail("bad_request", `“${text}” has no user after the last “@”; ${forms}.`);
  const agency = rest.length > 0 ? rest.join("@") : undefined;
  if (agency !== undefined) checkAgencyRef(agency);
  if (agent === "") return { kind: "agency", agency: agency ?? defaultAgency };
  if (agent.includes(":")) {
    throw fail(
      "bad_request",
      `“${text}” has a tag but no agency; put the tag after the agency, as in alice@review:pr-123.`,
    );
  }
  const path = agent.split("/");
  for (const name of path) checkName("agent", name);
  if (path.length > maxPathLength)
    throw fail("bad_request", `“${text}” is too deep: sub-agents are nested at most ${maxPathLength - 1} levels.`);
  return { kind: "agent", agent, agency: agency ?? defaultAgency };
}

export function parseAgentTarget(text: string, defaultAgency?: string): AgentTarget {
  const target = parseTarget(text, defaultAgency);
  if (target.kind === "agent") return target;
  throw fail("bad_request", `“${text}” is an agency; name an agent in it, as in alice${text}.`);
}

/** Parses an agency such as `@review`. Undefined means the default agency. */
export function parseAgencyTarget(text: string | undefined, defaultAgency = globalAgency): AgencyTarget {
  if (text === undefined) return { kind: "agency", agency: defaultAgency };
  const target = parseTarget(text, defaultAgency);
  if (target.kind === "agency") return target;
  const suggestion = target.agency === defaultAgency ? target.agent : target.agency;
  throw fail("bad_request", `“${text}” is an agent; an agency starts with “@”, as in @${suggestion}.`);
}

const channelForms =
  "use '#general', '#general@review', or '#@alice@review' for direct messages, in quotes: shells take # for a comment";

/**
 * Parses a channel such as `#general@review`, or `#@alice@review` for direct messages with alice. Without the `#`, a
 * target that starts with `@` is an agency and means its default channel.
 */
export function parseChannelTarget(text: string, defaultAgency = globalAgency): ChannelTarget {
  if (text.startsWith("@"))
    return { kind: "channel", channel: defaultChannel, agency: parseAgencyTarget(text, defaultAgency).agency };
  const [, name = "", at, agency = ""] = /^#?(@?[^@]*)(@?)(.*)$/s.exec(text) ?? [];
  if (name === "" || name === "@") throw fail("bad_request", `“${text}” names no channel; ${channelForms}.`);
  if (at && agency === "") throw fail("bad_request", `“${text}” has no agency after the “@”; ${channelForms}.`);
  if (name.startsWith("@")) checkName("agent", name.slice(1));
  else if (!directChannelPattern.test(name)) checkName("channel", name);
  return {
    kind: "channel",
    channel: name,
    agency: at ? parseAgencyTarget(`@${agency}`, defaultAgency).agency : defaultAgency,
  };
}

/** Whether a target that may also be an agent or an agency is a channel. */
export const isChannelTarget = (text: string) => text.startsWith("#");

/** Parses an agency: `review`, or `review@bob` for one of another user. The leading “@” is optional. */
export function parseAgencyId(text: string): string {
  const agency = text.replace(/^@/, "");
  checkAgencyRef(agency);
  return agency;
}

function checkAgencyRef(agency: string): void {
  const [id = "", user, ...more] = agency.split("@");
  if (more.length > 0) throw fail("bad_request", `“${agency}” has more than one “@”; use review or review@bob.`);
  checkName("agency", id);
  if (user !== undefined) checkName("user", user);
}

function checkName(kind: "agency" | "agent" | "channel" | "user", name: string): void {
  const issue = findNameIssue(nameRules[kind], name);
  if (issue) throw fail("bad_request", `Invalid ${kind} name “${name}”: ${issue}.`);
}
