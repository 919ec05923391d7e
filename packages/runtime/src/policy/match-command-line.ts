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
  const trimmed = line.trim();
  const parts = splitCommands(trimmed);
  const [part] = parts;
  if (!part || parts.length > 1 || dynamicSyntax.test(trimmed) || /["'=*?[\]]/.test(part[0] ?? "")) return trimmed;
  const [name = "", first] = part;
  const hasSubcommand = programsWithSubcommands.has(name) && first !== undefined && /^[a-z][\w-]*$/i.test(first);
  return `${hasSubcommand ? `${name} ${first}` : name} *`;
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
