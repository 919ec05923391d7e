import { fail, type FileInfo } from "@thinkery/sdk";

/** Accepted hashes of a file; “*” matches any existing file. */
export type Hashes = "*" | readonly string[];

/** A precondition for a change, as in `If-Match` and `If-None-Match`. */
export interface Condition {
  /** The file must exist and have one of these hashes. */
  match?: Hashes;
  /** The file must not exist, or have none of these hashes. */
  noneMatch?: Hashes;
}

export function isMet(file: FileInfo | undefined, { match, noneMatch }: Condition): boolean {
  return (match === undefined || isOneOf(file, match)) && (noneMatch === undefined || !isOneOf(file, noneMatch));
}

export function isOneOf(file: FileInfo | undefined, hashes: Hashes): boolean {
  return file !== undefined && (hashes === "*" || hashes.includes(file.hash));
}

export function createPreconditionError(path: string, file: FileInfo | undefined, { noneMatch }: Condition): Error {
  if (!file) return fail("precondition_failed", `“${path}” no longer exists.`);
  const reason = noneMatch === undefined ? "has changed; read it again before you change it" : "already exists";
  return fail("precondition_failed", `“${path}” ${reason}.`, { hash: file.hash });
}
