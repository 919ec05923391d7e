import type { SkippedFile } from "../../../folder/scan.ts";
import type { Manifest } from "./manifest.ts";

const maxNamedFiles = 10;
const maxRememberedNotes = 500;

/** What lies in the folder and is not taken, in words, unless it was said before. */
export function createNotes(manifest: Manifest, untaken: readonly SkippedFile[]): string[] {
  const before = new Set(manifest.told);
  const toKey = ({ path, why }: SkippedFile) => `${path}\0${why}`;
  const fresh = untaken.filter((one) => !before.has(toKey(one)));
  if (fresh.length > 0 || untaken.length < manifest.told.length)
    manifest.told = untaken.slice(0, maxRememberedNotes).map(toKey);
  const notes = fresh
    .slice(0, maxNamedFiles)
    .map(({ path, why }) => `“${formatPath(path)}” stays in the sandbox and does not come into the workspace: ${why}.`);
  if (fresh.length > maxNamedFiles) notes.push(`So do ${fresh.length - maxNamedFiles} more.`);
  return notes;
}

export function formatTooMuch({ files, bytes }: { files: number; bytes: number }): string {
  const limits = `${files} files or ${bytes / 1024 / 1024} MB`;
  return `More than ${limits} were changed in the sandbox, which is more than can come into the workspace at once. None of it did; it stays in the sandbox. Remove what is not needed there, or name it in a .gitignore.`;
}

function formatPath(path: string): string {
  // A name may be anything, and is read by a model.
  const plain = path.replace(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, "\ufffd");
  return plain.length > 200 ? `${plain.slice(0, 200)}…` : plain;
}
