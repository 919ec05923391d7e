import { ownerUser } from "./default-agency.ts";

/** The format of a name. Separate from the schemas so that the CLI can validate names without loading Zod. */
export interface NameRule {
  maxChars: number;
  pattern: RegExp;
  /** The pattern in words, for error messages. */
  form: string;
  reserved?: readonly string[];
}

// Names end up in URLs, file listings and @mentions, so they are plain ASCII: no slashes, spaces, control
// characters or look-alikes from other scripts. Dots and hyphens are fine inside, not at the ends.
const plain: NameRule = {
  maxChars: 64,
  pattern: /^[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?$/,
  form: "use ASCII letters and digits, with . _ - only between them",
};

export const nameRules = {
  // Path segments of the Agents SDK's own routes: an agent with such a name would be unreachable.
  agent: { ...plain, reserved: ["think", "agency", "user", "sub"] },
  blueprint: plain,
  driver: plain,
  user: plain,
  webhook: plain,
  channel: plain,
  workflow: plain,
  agency: {
    maxChars: 100,
    pattern: /^[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?(?::[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)?$/,
    form: `${plain.form}, with at most one “:tag”`,
  },
  // An agency as users name it: one of their own, or `review@bob`, the agency `review` of the user bob.
  agencyRef: {
    maxChars: 165,
    pattern:
      /^(?=[^@]{1,100}(?:@[^@]{1,64})?$)[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?(?::[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)?(?:@[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)?$/,
    form: `${plain.form}, with at most one “:tag”, and “@user” for an agency of another user`,
  },
  script: {
    maxChars: 100,
    pattern: /^[A-Za-z0-9][A-Za-z0-9._-]*$/,
    form: "use ASCII letters, digits, and . _ - (not first)",
  },
} satisfies Record<string, NameRule>;

/** The channel that every agency has. */
export const defaultChannel = "general";

/** The longest message that a channel takes at all. Here so that the CLI can check it without loading Zod. */
export const maxMessageChars = 4 * 1024 * 1024;

/** Matches the names of direct channels, such as `alice+bob`, or `alice+~owner` with the user owner. */
export const directChannelPattern = /^~?[A-Za-z0-9][A-Za-z0-9._-]*\+~?[A-Za-z0-9][A-Za-z0-9._-]*$/;

/** Tool names that every provider accepts. */
export const toolNameRule: NameRule = {
  maxChars: 64,
  pattern: /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/,
  form: "use at most 64 letters, digits, _ and -, with a letter or _ first",
};

/** Returns what is wrong with a name, in the words of its schema, or undefined if it is valid. */
export function findNameIssue(rule: NameRule, name: string): string | undefined {
  const { empty, tooLong, reserved } = nameIssues(rule);
  if (name === "") return empty;
  if (name.length > rule.maxChars) return tooLong;
  if (!rule.pattern.test(name)) return rule.form;
  return rule.reserved?.includes(name.toLowerCase()) ? reserved : undefined;
}

export function nameIssues({ maxChars, reserved = [] }: NameRule) {
  return {
    empty: "Too small: expected string to have >=1 characters",
    tooLong: `Too big: expected string to have <=${maxChars} characters`,
    reserved: `reserved (${reserved.join(", ")}); choose another name`,
  };
}

/**
 * Formats the name of an agency's Durable Object. Ids are unique per user, so that nobody learns which ids others use:
 * `review` is the owner's, `review@bob` is Bob's.
 */
export function formatAgencyKey(user: string, id: string): string {
  return user === ownerUser ? id : `${id}@${user}`;
}

export function parseAgencyKey(key: string): { id: string; user: string } {
  const [id = "", user = ownerUser] = key.split("@");
  return { id, user };
}

/**
 * Parses an agency as a user names it: `review` is the user's own, `review@bob` belongs to Bob. The inverse of
 * `formatAgencyRef`.
 */
export function parseAgencyRef(user: string, ref: string): { id: string; user: string; key: string } {
  const [id = "", owner = user] = ref.split("@");
  return { id, user: owner, key: formatAgencyKey(owner, id) };
}

/** Returns how a user names the agency with this key. */
export function formatAgencyRef(user: string, key: string): string {
  const agency = parseAgencyKey(key);
  return agency.user === user ? agency.id : `${agency.id}@${agency.user}`;
}

/** The address of an agent: its agency's key, and the path from the agency's agent down to a sub-agent. */
export interface AgentAddress {
  agency: string;
  path: readonly [agent: string, ...subAgents: string[]];
}

/** Sub-agents can be nested three levels deep. */
export const maxPathLength = 4;

/** Formats an address as `agency~agent` or `agency~agent/sub-agent`; names contain neither `~` nor `/`. */
export function formatAddress({ agency, path }: AgentAddress): string {
  return `${agency}~${path.join("/")}`;
}

export function parseAddress(text: string): AgentAddress | undefined {
  const [agency, path, ...rest] = text.split("~");
  if (!agency || !path || rest.length > 0) return undefined;
  const [agent = "", ...subAgents] = path.split("/");
  return agent === "" || subAgents.includes("") ? undefined : { agency, path: [agent, ...subAgents] };
}

/** Whether a text is the name of an agent's Durable Object, and thus safe as a path of two segments. */
export function isAgentObjectName(text: string): boolean {
  return isAgentAddress(text) && !text.includes("/");
}

/** Whether a text is the name of an agency's Durable Object, such as `review` or `review@bob`. */
export function isAgencyKey(text: string): boolean {
  const { id, user } = parseAgencyKey(text);
  if (formatAgencyKey(user, id) !== text) return false;
  return !findNameIssue(nameRules.agency, id) && !findNameIssue(nameRules.user, user);
}

/** Whether a text is the address of an agent or a sub-agent. */
export function isAgentAddress(text: string): boolean {
  const { agency: key = "", path = [""] } = parseAddress(text) ?? {};
  if (!isAgencyKey(key) || path.length > maxPathLength) return false;
  return path.every((name) => !findNameIssue(nameRules.agent, name));
}

/** Formats the name of an agent's Durable Object. Sub-agents are facets of it. */
export function formatAgentObjectName(agency: string, agent: string): string {
  return formatAddress({ agency, path: [agent] });
}
