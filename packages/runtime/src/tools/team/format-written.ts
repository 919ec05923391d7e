/** Describes what a change of a document did. A change of nothing has no version. */
export function formatWritten(
  done: string,
  { version }: { version: number | undefined },
  nothing = "Nothing changed.",
): string {
  return version === undefined ? nothing : `${done} (version ${version}).`;
}
