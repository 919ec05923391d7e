import { scanMentions } from "@thinkery/sdk/internal";

/** A part of a text: a mention of somebody, or what is between mentions. */
export interface MentionPiece {
  text: string;
  /** Who is mentioned. */
  name?: string;
}

/** Splits a text at the mentions of these names, whatever their case in the text. */
export function splitMentions(text: string, names: ReadonlySet<string>): MentionPiece[] {
  const byCase = new Map([...names].map((name) => [name.toLowerCase(), name]));
  const pieces: MentionPiece[] = [];
  let end = 0;
  for (const { name: written = "", start, end: next } of scanMentions(text)) {
    const name = byCase.get(written.toLowerCase());
    if (name === undefined) continue;
    if (start > end) pieces.push({ text: text.slice(end, start) });
    end = next;
    pieces.push({ text: text.slice(start, next), name });
  }
  if (end < text.length) pieces.push({ text: text.slice(end) });
  return pieces;
}

/** The beginning of a mention right before the caret. */
export interface MentionStart {
  /** Where its `@` is. */
  from: number;
  query: string;
}

export function findMentionStart(text: string, caret: number): MentionStart | undefined {
  const match = /(?<![A-Za-z0-9_@/.:-])@([A-Za-z0-9._-]*)$/.exec(text.slice(0, caret));
  return match ? { from: match.index, query: match[1] ?? "" } : undefined;
}

/** The names that a mention may become: those that begin with the query first, then those that contain it. */
export function findCandidates(names: readonly string[], query: string, max = 8): string[] {
  const wanted = query.toLowerCase();
  const begins = names.filter((name) => name.toLowerCase().startsWith(wanted));
  const contains = names.filter((name) => name.toLowerCase().indexOf(wanted) > 0);
  return [...begins, ...contains].slice(0, max);
}

/** Replaces the beginning of a mention by the whole one. */
export function completeMention(
  text: string,
  caret: number,
  { from }: MentionStart,
  name: string,
): { text: string; caret: number } {
  const rest = text.slice(caret);
  const mention = `@${name}${/^\s/.test(rest) ? "" : " "}`;
  return { text: text.slice(0, from) + mention + rest, caret: from + mention.length };
}
