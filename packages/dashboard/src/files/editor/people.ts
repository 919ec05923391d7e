import { showControlChars } from "../../chat/blocks.ts";

/** Somebody else who is in these files. */
export interface Person {
  id: number;
  name: string;
  /** Which of our colours they have. */
  tone: number;
  /** The file that they look at. */
  path?: string;
}

/** What they are for other programs. Here, each is a class with a colour for either theme. */
export const personColors = ["#1e5f7c", "#a33f22", "#55722a", "#7c5a0c", "#6a4c93", "#8a2f5f", "#2f6f5e", "#4a5aa8"];

const maxNameChars = 40;

/** Reads what somebody shows of themselves; it may be anything. */
export function parsePerson(id: number, state: unknown): Person {
  const { user, path } = toRecord(state);
  const { name, color } = toRecord(user);
  const known = personColors.indexOf(String(color));
  return {
    id,
    name:
      typeof name === "string" && name.trim() !== ""
        ? showControlChars(name.trim().slice(0, maxNameChars))
        : "somebody",
    tone: known < 0 ? id % personColors.length : known,
    ...(typeof path === "string" ? { path } : {}),
  };
}

export function toRecord(value: unknown): Record<string, unknown> {
  return value !== null && typeof value === "object" ? (value as Record<string, unknown>) : {};
}
