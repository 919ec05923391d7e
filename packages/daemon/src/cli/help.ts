/** The examples under a command's help: what to type, and what it does. */
export function formatExamples(...lines: [command: string, meaning: string][]): string {
  const width = Math.max(...lines.map(([command]) => command.length));
  const rows = lines.map(([command, meaning]) => `  $ thinkery ${command.padEnd(width)}  ${meaning}`.trimEnd());
  return `\nExamples:\n${rows.join("\n")}`;
}
