const maxJsonChars = 200_000;

/**
 * JSON over several lines, each number and string exactly as it stands there: to read a number and write it anew may
 * change it. What is not JSON stays as it is.
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
