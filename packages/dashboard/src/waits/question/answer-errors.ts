import type { AnswerIssues } from "./answer-draft.ts";

const prefix = "Invalid `value`: ";

/**
 * Assigns the host's message about a wrong answer to the fields it names, as in `value.city: Too short; value.age: …`.
 * Returns undefined if it is about something else.
 */
export function parseAnswerIssues(message: string, isField: (path: string) => boolean): AnswerIssues | undefined {
  if (!message.startsWith(prefix)) return undefined;
  const issues: Record<string, string> = {};
  let last = "";
  for (const part of message.slice(prefix.length).split("; ")) {
    const [, path, text] = /^value(?:\.([^:\s]+))?: (.*)$/s.exec(part) ?? [];
    if (text === undefined) issues[last] = issues[last] === undefined ? part : `${issues[last]}; ${part}`;
    else {
      last = path !== undefined && isField(path) ? path : "";
      const full = path !== undefined && last === "" ? `${path}: ${text}` : text;
      issues[last] = issues[last] === undefined ? full : `${issues[last]}; ${full}`;
    }
  }
  return issues;
}
