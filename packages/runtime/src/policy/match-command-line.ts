import { matchCommand } from "./match-command.ts";

/** Programs whose first argument says what they do: “git push” is another command than “git diff”. */
const programsWithSubcommands = new Set([
  ..."apt apt-get brew bun cargo composer deno docker dotnet gcloud gem gh git go helm kubectl make npm npx".split(" "),
  ..."pip pip3 pnpm podman poetry systemctl terraform uv yarn".split(" "),
]);

/** What makes it impossible to tell from its text what a command line runs. */
const dynamicSyntax = /[$`(){}<>\\\n]|(?<!&)&(?!&)/;

/**
 * Returns whether a rule's `match` applies to a whole command line, judged by its text alone. To ask, one matching part
 * is enough; to allow, every part must match, and the text must leave no doubt about what runs.
 */
export function matchCommandLine(match: string, line: string, action: "ask" | "allow"): boolean {
  const parts = splitCommands(line);
  if (action === "ask") return parts.some((part) => matchPart(match, part));
  if (line.trim() === match.trim()) return true;
  return !dynamicSyntax.test(line) && parts.length > 0 && parts.every((part) => matchPart(match, part));
}

/** Returns a `match` for a command line and others like it: `git push *` for `git push origin main`. */
export function suggestCommandMatch(line: string): string {
  const command = parseOnlyCommand(line);
  if (!command) return line.trim();
  const [name = "", first] = command;
  const hasSubcommand = programsWithSubcommands.has(name) && first !== undefined && /^[a-z][\w-]*$/i.test(first);
  return `${hasSubcommand ? `${name} ${first}` : name} *`;
}

/** Returns whether a `match` means exactly this line, which is more than one command that its text tells. */
export const isWholeLine = (match: string, line: string) =>
  match.trim() === line.trim() && parseOnlyCommand(line) === undefined;

/** Returns the words of a line's only command, or undefined if its text does not tell what it runs. */
function parseOnlyCommand(line: string): string[] | undefined {
  const [command, ...others] = splitCommands(line);
  if (!command || others.length > 0 || dynamicSyntax.test(line.trim())) return undefined;
  return /["'=*?[\]]/.test(command[0] ?? "") ? undefined : command;
}

/** Splits a command line into its commands and their words, judged by its text alone. */
export function splitCommands(line: string): string[][] {
  return line
    .split(/[;&|()\n]+/)
    .map((part) => part.trim())
    .filter((part) => part !== "")
    .map((part) => part.split(/\s+/));
}

const matchPart = (match: string, [name = "", ...args]: string[]) => matchCommand(match, { name, args });
