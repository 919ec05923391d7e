/** Formats the examples at the end of a command's help. */
export function formatExamples(...lines: [command: string, description: string][]): string {
  // Examples with a pipe name the program themselves.
  const commands = lines.map(([command]) => (command.includes("thinkery ") ? command : `thinkery ${command}`));
  const width = Math.max(...commands.map((command) => command.length));
  const rows = commands.map((command, index) => `  $ ${command.padEnd(width)}  ${lines[index]?.[1] ?? ""}`.trimEnd());
  return `\nExamples:\n${rows.join("\n")}`;
}
