import { z } from "zod";

// Names end up in URLs, file listings and @mentions, so they are plain ASCII: no slashes, spaces, control
// characters or look-alikes from other scripts. Dots and hyphens are fine inside, not at the ends.
const plainName = /^[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?$/;
const nameRule = "use ASCII letters, digits, and . _ - between them";

/** Path segments of the Agents SDK's own routes; an agent with such a name could not be reached. */
export const reservedNames: readonly string[] = ["think", "agency", "user", "sub"];

const plain = (longest: number) => z.string().min(1).max(longest).regex(plainName, nameRule);

const notReserved = (name: string) => !reservedNames.includes(name.toLowerCase());

export const agentNameSchema = plain(64).refine(notReserved, {
  error: `reserved (${reservedNames.join(", ")}); choose another name`,
});

export const blueprintNameSchema = plain(64);

export const userNameSchema = plain(64);

/** `global`, `review`, or `review:pr-123` for one run of a workflow. */
export const agencyIdSchema = z
  .string()
  .min(1)
  .max(100)
  .regex(
    /^[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?(?::[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)?$/,
    `${nameRule}, with at most one “:tag”`,
  );

export const modelIdSchema = z
  .string()
  .max(200)
  .regex(/^[a-z0-9][a-z0-9-]*:[\x21-\x7e]+$/, "write it as provider:model, for example anthropic:claude-sonnet-4-5");

/** An agent's object is named after its agency and itself; `~` appears in neither. */
export function agentObjectName(agency: string, agent: string): string {
  return `${agency}~${agent}`;
}

export function parseAgentObjectName(name: string): { agency: string; agent: string } | undefined {
  const [agency, agent, ...rest] = name.split("~");
  if (!agency || !agent || rest.length > 0) return undefined;
  return { agency, agent };
}
