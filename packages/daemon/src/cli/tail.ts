import { type FileHandle, open } from "node:fs/promises";
import { StringDecoder } from "node:string_decoder";

const chunkBytes = 64 * 1024;
const pollMs = 200;

interface Tail {
  lines: string[];
  /** Size of the file when it was read. */
  end: number;
}

/** Reads the last lines of a file from its end; returns undefined if the file does not exist. */
export async function readLastLines(path: string, count: number): Promise<Tail | undefined> {
  const file = await openIfExists(path);
  if (!file) return undefined;
  try {
    const { size: end } = await file.stat();
    let start = end;
    let tail = Buffer.alloc(0);
    // One more newline than lines, so that the first line is complete.
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

/** Calls `onLine` for each line written after offset `from`, across file rotations, until `signal` aborts. */
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
        // Read what was written to the old file just before the rotation.
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

/** Opens the file that replaced the one being read; returns undefined if it was not replaced. */
async function openReplacement(
  path: string,
  current: FileHandle | undefined,
  position: number,
): Promise<FileHandle | undefined> {
  const latest = await openIfExists(path);
  if (!latest || !current) return latest;
  const [latestStat, currentStat] = await Promise.all([latest.stat(), current.stat()]);
  if (latestStat.ino !== currentStat.ino || latestStat.size < position) return latest;
  await latest.close();
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
