import type { TeamTask } from "@thinkery/sdk";

const maxListedChars = 500;

/** Returns what a model needs of a shared task: in a list only the beginning of long texts. */
export function describeTeamTask(task: TeamTask, { isListed = false } = {}) {
  const { id, parentId, type, title, description, status, dependencies, claimedBy, result, error } = task;
  const toText = (text: string) =>
    isListed && text.length > maxListedChars ? `${text.slice(0, maxListedChars)}…` : text;
  return {
    id,
    ...(parentId === undefined ? {} : { parentId }),
    type,
    title,
    status,
    ...(claimedBy === undefined ? {} : { claimedBy }),
    ...(description ? { description: toText(description) } : {}),
    ...(dependencies.length > 0 ? { dependencies } : {}),
    ...(result ? { result: toText(result) } : {}),
    ...(error ? { error: toText(error) } : {}),
  };
}
