import { resolve } from "node:path";
import { fail, type ThinkeryError } from "@thinkery/sdk";

interface BuildMessage {
  text: string;
  location: { file: string; line: number; column: number; lineText: string } | null;
}

/** Converts an esbuild failure to a user-facing error with the location, the message and the source line. */
export function toBuildError(error: unknown, folder: string): ThinkeryError {
  const errors = (error as { errors?: BuildMessage[] }).errors;
  const [first] = errors ?? [];
  if (!errors || !first) return fail("internal", `Failed to bundle the Worker: ${(error as Error).message}`);
  const issues = errors.map((message) => ({ path: [formatLocation(message, folder)], message: message.text }));
  const line = first.location ? `\n${first.location.lineText.trim()}` : "";
  return fail("bad_request", `Failed to build the Worker. ${formatLocation(first, folder)}: ${first.text}${line}`, {
    issues,
  });
}

function formatLocation({ location }: BuildMessage, folder: string): string {
  return location ? `${resolve(folder, location.file)}:${location.line}:${location.column + 1}` : folder;
}

/** The exports that main needs from a Worker, and how @thinkery/runtime exports each of them. */
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
  const names = missing.map(([name]) => name).join(", ");
  const specifiers = missing.map(([, specifier]) => specifier).join(", ");
  throw fail(
    "bad_request",
    `${entry} does not export ${names}. Add \`export { ${specifiers} } from "@thinkery/runtime";\`.`,
  );
}
