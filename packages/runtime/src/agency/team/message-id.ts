import { fail } from "@thinkery/sdk";

/** Formats the number of a message, which counts all messages of its agency. */
export const formatMessageId = (number: number) => `msg-${number}`;

/** Returns undefined if the text is not the id of a message. */
export function parseMessageId(text: string): number | undefined {
  const [, digits] = /^msg-(\d{1,15})$/.exec(text) ?? [];
  return digits === undefined ? undefined : Number(digits);
}

export function requireMessageId(text: string): number {
  const number = parseMessageId(text);
  if (number === undefined) throw fail("bad_request", `“${text}” is not the id of a message, such as msg-12.`);
  return number;
}

/** Parses where a list begins or ends: the id of a message, or an ISO date. */
export function parseBoundary(text: string, name: string): { message: number } | { time: number } {
  const message = parseMessageId(text);
  if (message !== undefined) return { message };
  const time = /^\d{4}-\d\d-\d\d/.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(time))
    throw fail("bad_request", `“${name}” must be the id of a message, such as msg-12, or an ISO date.`);
  return { time };
}
