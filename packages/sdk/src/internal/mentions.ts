import { findNearest } from "./nearest.ts";

/** Everyone that a text may mention. */
export interface Names {
  /** Returns an agent's name as it is written, whatever its case in the text. */
  findAgent(name: string): string | undefined;
  hasPerson(name: string): boolean;
  listAgents(): string[];
}

export interface Mentions {
  agents: string[];
  /** What looks like a mention but names nobody. */
  unknown: { name: string; suggestion?: string }[];
}

// Exactly what a name may be: `@kimi-code` must not mention `kimi`. A word, an address or a path before the @ is no
// mention.
export const mentionPattern = /(?<![A-Za-z0-9_@/.:-])@([A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)(?![A-Za-z0-9_@])/g;
const codePattern = /```[^]*?(?:```|$)|`[^`\n]*`/g;

const maxNameChars = 64;
const maxUnknown = 20;

/** Finds whom a message mentions. What is in code is not searched. */
export function findMentions(text: string, names: Names): Mentions {
  const agents = new Set<string>();
  const unknown = new Map<string, string | undefined>();
  for (const [, name = ""] of text.replace(codePattern, " ").matchAll(mentionPattern)) {
    if (name.length > maxNameChars) continue;
    const agent = names.findAgent(name);
    if (agent !== undefined) agents.add(agent);
    else if (!names.hasPerson(name) && unknown.size < maxUnknown && !unknown.has(name))
      unknown.set(name, findNearest(name, names.listAgents()));
  }
  return {
    agents: [...agents],
    unknown: [...unknown].map(([name, suggestion]) => (suggestion === undefined ? { name } : { name, suggestion })),
  };
}
