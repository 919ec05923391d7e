import { encodeBase64, decodeBase64 } from "./base64.ts";

/** The agent's files, and a shell on them, as code has them. */

type Content = string | Uint8Array | ArrayBuffer;

export interface FileSystem {
  /** Text where it is text, and bytes where it is not. */
  readFile(path: string): Promise<string | Uint8Array>;
  writeFile(path: string, content: Content): Promise<void>;
  /** All files in a folder and below it. */
  list(path?: string): Promise<{ path: string; size: number; kind: string }[]>;
  /** Nothing where there is none. */
  stat(path: string): Promise<{ path: string; kind: string; size?: number } | undefined>;
  exists(path: string): Promise<boolean>;
  delete(path: string): Promise<void>;
  move(from: string, to: string): Promise<void>;
}

export type Bash = (
  command: string,
  options?: { timeoutMs?: number },
) => Promise<{ exitCode: number; stdout: string; stderr: string; notes: string[] }>;

export type Ask = <Given extends unknown[], Answer>(
  capability: string,
  inputOf: (...given: Given) => unknown,
  answerOf: (answer: unknown) => Answer,
) => (...given: Given) => Promise<Answer>;

export function createFileSystem(ask: Ask): { fs: FileSystem; bash: Bash } {
  const info = (path: string) => ({ path, only: "info" });
  const nothing = () => {};
  return {
    fs: {
      readFile: ask("readFile", (path: string) => ({ path }), decodeContent),
      writeFile: ask(
        "writeFile",
        (path: string, content: Content) => ({ path, content: encodeContent(content) }),
        nothing,
      ),
      list: ask(
        "listFiles",
        (path?: string) => ({ path }),
        (files) => files as Awaited<ReturnType<FileSystem["list"]>>,
      ),
      stat: ask("readFile", info, (found) => (found ?? undefined) as Awaited<ReturnType<FileSystem["stat"]>>),
      exists: ask("readFile", info, (found) => found !== null),
      delete: ask("deleteFile", (path: string) => ({ path }), nothing),
      move: ask("moveFile", (from: string, to: string) => ({ from, to }), nothing),
    },
    bash: ask(
      "bash",
      (command: string, { timeoutMs }: { timeoutMs?: number } = {}) => ({ command, timeoutMs }),
      (answer) => answer as Awaited<ReturnType<Bash>>,
    ),
  };
}

function decodeContent(answer: unknown): string | Uint8Array {
  const { text, base64: bytes } = answer as { text?: string; base64?: string };
  return bytes === undefined ? (text ?? "") : decodeBase64(bytes);
}

/** What is neither text nor bytes goes as it is, to be refused with a reason. */
function encodeContent(content: unknown): unknown {
  if (content instanceof ArrayBuffer) return { base64: encodeBase64(new Uint8Array(content)) };
  if (ArrayBuffer.isView(content))
    return { base64: encodeBase64(new Uint8Array(content.buffer, content.byteOffset, content.byteLength)) };
  return typeof content === "string" ? { text: content } : content;
}
