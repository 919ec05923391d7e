const maxJsonChars = 200_000;

/**
 * Indents JSON while keeping every number and string verbatim, because parsing and serializing a number may change it.
 * Returns text that is not JSON unchanged.
 */
export function indentJson(text: string): string {
  if (!/^[[{]/.test(text) || text.length > maxJsonChars || text.includes("\n") || !isJson(text)) return text;
  let depth = 0;
  const newLine = () => `\n${"  ".repeat(depth)}`;
  return text.replace(/"(?:[^"\\]|\\.)*"|\[\]|\{\}|[[{\]},:]/g, (token) => {
    if (token === "[" || token === "{") {
      depth++;
      return token + newLine();
    }
    if (token === "]" || token === "}") {
      depth--;
      return newLine() + token;
    }
    if (token === ",") return token + newLine();
    return token === ":" ? ": " : token;
  });
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
