import type { SkippedFile } from "../../../folder/scan.ts";
import type { Manifest } from "./manifest.ts";

const maxNamedFiles = 10;
const maxRememberedNotes = 500;

/** Formats notes about the skipped files, except those reported before. */
export function createNotes(manifest: Manifest, skipped: readonly SkippedFile[]): string[] {
  const reported = new Set(manifest.reported);
  const toKey = ({ path, reason }: SkippedFile) => `${path}\0${reason}`;
  const added = skipped.filter((file) => !reported.has(toKey(file)));
  if (added.length > 0 || skipped.length < manifest.reported.length)
    manifest.reported = skipped.slice(0, maxRememberedNotes).map(toKey);
  const notes = added
    .slice(0, maxNamedFiles)
    .map(
      ({ path, reason }) => `“${formatPath(path)}” stays in the sandbox and is not copied to the workspace: ${reason}.`,
    );
  if (added.length > maxNamedFiles) notes.push(`The same applies to ${added.length - maxNamedFiles} more.`);
  return notes;
}

export function formatTooMuch({ files, bytes }: { files: number; bytes: number }): string {
  const limits = `${files} files or ${bytes / 1024 / 1024} MB`;
  return `More than ${limits} were changed in the sandbox, which is more than can be copied to the workspace at once. Nothing was copied; the changes stay in the sandbox. Remove unneeded files there, or list them in a .gitignore.`;
}

function formatPath(path: string): string {
  // File names can contain anything, and models read them.
  const plain = path.replace(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, "\ufffd");
  return plain.length > 200 ? `${plain.slice(0, 200)}…` : plain;
}
