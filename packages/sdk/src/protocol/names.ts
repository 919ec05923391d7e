/** What names look like. Apart from their schemas, so that the command line can check one without carrying zod along. */
export interface NameRule {
  longest: number;
  pattern: RegExp;
  /** The pattern in words. */
  form: string;
  reserved?: readonly string[];
}

// Names end up in URLs, file listings and @mentions, so they are plain ASCII: no slashes, spaces, control
// characters or look-alikes from other scripts. Dots and hyphens are fine inside, not at the ends.
const plain: NameRule = {
  longest: 64,
  pattern: /^[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?$/,
  form: "use ASCII letters, digits, and . _ - between them",
};

export const nameRules = {
  // Path segments of the Agents SDK's own routes; an agent with such a name could not be reached.
  agent: { ...plain, reserved: ["think", "agency", "user", "sub"] },
  blueprint: plain,
  driver: plain,
  user: plain,
  agency: {
    longest: 100,
    pattern: /^[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?(?::[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)?$/,
    form: `${plain.form}, with at most one “:tag”`,
  },
  script: {
    longest: 100,
    pattern: /^[A-Za-z0-9][A-Za-z0-9._-]*$/,
    form: "use ASCII letters, digits, and . _ - after the first",
  },
} satisfies Record<string, NameRule>;

/** What every provider takes for a tool's name. */
export const toolNameRule: NameRule = {
  longest: 64,
  pattern: /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/,
  form: "use letters, digits, _ and -, 64 of them at most, and a letter or _ first",
};

/** What is wrong with a name, in the words of its schema; nothing when it is right. */
export function findNameIssue(rule: NameRule, name: string): string | undefined {
  const { empty, tooLong, reserved } = nameIssues(rule);
  if (name === "") return empty;
  if (name.length > rule.longest) return tooLong;
  if (!rule.pattern.test(name)) return rule.form;
  return rule.reserved?.includes(name.toLowerCase()) ? reserved : undefined;
}

export function nameIssues({ longest, reserved = [] }: NameRule) {
  return {
    empty: "Too small: expected string to have >=1 characters",
    tooLong: `Too big: expected string to have <=${longest} characters`,
    reserved: `reserved (${reserved.join(", ")}); choose another name`,
  };
}

/** Where an agent is: its agency, and the path from the agency's own agent down to a sub-agent. */
export interface AgentAddress {
  agency: string;
  path: readonly [agent: string, ...subAgents: string[]];
}

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

/** The name of the object of an agency's own agent. Sub-agents live in it as facets. */
export function formatAgentObjectName(agency: string, agent: string): string {
  return formatAddress({ agency, path: [agent] });
}
