import { resolve } from "node:path";
import { fail, type ThinkeryError } from "@thinkery/sdk";

interface BuildMessage {
  text: string;
  location: { file: string; line: number; column: number; lineText: string } | null;
}

/** What the bundler could not make sense of, for people: where, what, and the line. */
export function toBuildError(error: unknown, folder: string): ThinkeryError {
  const errors = (error as { errors?: BuildMessage[] }).errors;
  const [first] = errors ?? [];
  if (!errors || !first) return fail("internal", `The Worker could not be bundled: ${(error as Error).message}`);
  const problems = errors.map((each) => ({ path: [formatLocation(each, folder)], message: each.text }));
  const line = first.location ? `\n${first.location.lineText.trim()}` : "";
  return fail("bad_request", `The Worker does not build. ${formatLocation(first, folder)}: ${first.text}${line}`, {
    problems,
  });
}

function formatLocation({ location }: BuildMessage, folder: string): string {
  return location ? `${resolve(folder, location.file)}:${location.line}:${location.column + 1}` : folder;
}

/** Everything main needs of a Worker, under the names that the library has for it. */
const requiredExports = {
  Think: "Think",
  Agency: "Agency",
  User: "User",
  Supervision: "Supervision",
  default: "handler as default",
};

export function checkExports(entry: string, exported: readonly string[]): void {
  const missing = Object.entries(requiredExports).filter(([name]) => !exported.includes(name));
  if (missing.length === 0) return;
  const [names, lines] = [missing.map(([name]) => name).join(", "), missing.map(([, line]) => line).join(", ")];
  throw fail(
    "bad_request",
    `${entry} does not export ${names}; add \`export { ${lines} } from "@thinkery/runtime";\`.`,
  );
}
