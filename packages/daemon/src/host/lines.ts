import type { Readable } from "node:stream";
import { StringDecoder } from "node:string_decoder";

/** Calls back for each line of a stream. Longer lines are truncated, so that no child can fill our memory. */
export function readLines(stream: Readable, onLine: (line: string) => void, maxChars = 16_384): void {
  const decoder = new StringDecoder("utf8");
  let rest = "";
  let isTruncating = false;

  const finish = (text: string) => {
    if (!isTruncating && text) onLine(text.length > maxChars ? `${text.slice(0, maxChars)} …(cut)` : text);
    isTruncating = false;
  };

  stream.on("data", (chunk: Buffer) => {
    const lines = (rest + decoder.write(chunk)).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) finish(line);
    if (rest.length > maxChars) {
      if (!isTruncating) onLine(`${rest.slice(0, maxChars)} …(cut)`);
      isTruncating = true;
      rest = "";
    }
  });
  stream.on("end", () => finish(rest));
  stream.on("error", () => {});
}
