import { showControlChars } from "../../chat/blocks.ts";

/** Another user in these files. */
export interface Person {
  id: number;
  name: string;
  /** Index in `personColors`. */
  tone: number;
  /** The file they have open. */
  path?: string;
}

/** Colors sent to other clients. The page maps each to a class with a color per theme. */
export const personColors = ["#1e5f7c", "#a33f22", "#55722a", "#7c5a0c", "#6a4c93", "#8a2f5f", "#2f6f5e", "#4a5aa8"];

const maxNameChars = 40;

/** Parses the awareness state of another client, which may have any shape. */
export function parsePerson(id: number, state: unknown): Person {
  const { user, path } = toRecord(state);
  const { name, color } = toRecord(user);
  const found = personColors.indexOf(String(color));
  return {
    id,
    name:
      typeof name === "string" && name.trim() !== ""
        ? showControlChars(name.trim().slice(0, maxNameChars))
        : "anonymous",
    tone: found < 0 ? id % personColors.length : found,
    ...(typeof path === "string" ? { path } : {}),
  };
}

export function toRecord(value: unknown): Record<string, unknown> {
  return value !== null && typeof value === "object" ? (value as Record<string, unknown>) : {};
}
