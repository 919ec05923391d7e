import { type FileHandle, open } from "node:fs/promises";
import { StringDecoder } from "node:string_decoder";

const chunkBytes = 64 * 1024;
const pollMs = 200;

interface Tail {
  lines: string[];
  /** Where the file ended when it was read. */
  end: number;
}

/** The last lines of a file, read from its end. Nothing when there is no such file. */
export async function readLastLines(path: string, count: number): Promise<Tail | undefined> {
  const file = await openIfExists(path);
  if (!file) return undefined;
  try {
    const { size: end } = await file.stat();
    let start = end;
    let tail = Buffer.alloc(0);
    // One newline more than lines: the first of the lines must be whole.
    while (start > 0 && countNewlines(tail) <= count) {
      const length = Math.min(chunkBytes, start);
      start -= length;
      const chunk = Buffer.alloc(length);
      await file.read(chunk, 0, length, start);
      tail = Buffer.concat([chunk, tail]);
    }
    const lines = tail.toString("utf8").split("\n");
    if (lines.at(-1) === "") lines.pop();
    return { lines: count === 0 ? [] : lines.slice(-count), end };
  } finally {
    await file.close();
  }
}

/** Calls back for each line written after `from`, also across a rotation of the file, until `signal` aborts. */
export async function followFile(
  path: string,
  from: number,
  onLine: (line: string) => void,
  signal?: AbortSignal,
): Promise<void> {
  let decoder = new StringDecoder("utf8");
  let rest = "";
  let position = from;
  let current = await openIfExists(path);

  const drain = async () => {
    if (!current) return;
    const chunk = Buffer.alloc(chunkBytes);
    for (;;) {
      const { bytesRead } = await current.read(chunk, 0, chunkBytes, position);
      if (bytesRead === 0) return;
      position += bytesRead;
      const lines = (rest + decoder.write(chunk.subarray(0, bytesRead))).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) onLine(line);
    }
  };

  try {
    while (!signal?.aborted) {
      await drain();
      const next = await openReplacement(path, current, position);
      if (next) {
        // What was written to the old file just before it was put aside.
        await drain();
        await current?.close();
        current = next;
        position = 0;
        rest = "";
        decoder = new StringDecoder("utf8");
        continue;
      }
      await pause(signal);
    }
  } finally {
    await current?.close();
  }
}

/** The file that has taken the place of the one being read. */
async function openReplacement(
  path: string,
  current: FileHandle | undefined,
  position: number,
): Promise<FileHandle | undefined> {
  const there = await openIfExists(path);
  if (!there || !current) return there;
  const [now, before] = await Promise.all([there.stat(), current.stat()]);
  if (now.ino !== before.ino || now.size < position) return there;
  await there.close();
  return undefined;
}

async function openIfExists(path: string): Promise<FileHandle | undefined> {
  try {
    return await open(path, "r");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

function countNewlines(buffer: Buffer): number {
  let count = 0;
  for (const byte of buffer) if (byte === 10) count++;
  return count;
}

function pause(signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(done, pollMs);
    function done() {
      clearTimeout(timer);
      signal?.removeEventListener("abort", done);
      resolve();
    }
    signal?.addEventListener("abort", done);
  });
}
