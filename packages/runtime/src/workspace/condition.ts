import { fail, type FileInfo } from "@thinkery/sdk";

/** Hashes that a file should have one of, or any at all. */
export type Hashes = "*" | readonly string[];

/** What has to be so for a change to be made. */
export interface Condition {
  /** The file is there, and is one of these. */
  match?: Hashes;
  /** It is not there, or at least none of these. */
  noneMatch?: Hashes;
}

export function isMet(file: FileInfo | undefined, { match, noneMatch }: Condition): boolean {
  return (match === undefined || isOneOf(file, match)) && (noneMatch === undefined || !isOneOf(file, noneMatch));
}

export function isOneOf(file: FileInfo | undefined, hashes: Hashes): boolean {
  return file !== undefined && (hashes === "*" || hashes.includes(file.hash));
}

export function createPreconditionError(path: string, file: FileInfo | undefined, { noneMatch }: Condition): Error {
  if (!file) return fail("precondition_failed", `“${path}” is not there any more.`);
  const why = noneMatch === undefined ? "has changed meanwhile; read it again, then change it" : "is there already";
  return fail("precondition_failed", `“${path}” ${why}.`, { hash: file.hash });
}
