import type { Readable } from "node:stream";
import { StringDecoder } from "node:string_decoder";

/** Calls back for each line of a stream. A line longer than `max` is cut, so no child can fill our memory. */
export function readLines(stream: Readable, onLine: (line: string) => void, max = 16_384): void {
  const decoder = new StringDecoder("utf8");
  let rest = "";
  let cutting = false;

  const finish = (text: string) => {
    if (!cutting && text) onLine(text.length > max ? `${text.slice(0, max)} …(cut)` : text);
    cutting = false;
  };

  stream.on("data", (chunk: Buffer) => {
    const lines = (rest + decoder.write(chunk)).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) finish(line);
    if (rest.length > max) {
      if (!cutting) onLine(`${rest.slice(0, max)} …(cut)`);
      cutting = true;
      rest = "";
    }
  });
  stream.on("end", () => finish(rest));
  stream.on("error", () => {});
}
