import { encodeBase64, decodeBase64 } from "./base64.ts";

type Content = string | Uint8Array | ArrayBuffer;

/** The agent's files, as code sees them. */
export interface FileSystem {
  /** Returns text, or bytes if the file is not text. */
  readFile(path: string): Promise<string | Uint8Array>;
  writeFile(path: string, content: Content): Promise<void>;
  /** Returns all files in a folder and below it. */
  list(path?: string): Promise<{ path: string; size: number; kind: string }[]>;
  /** Returns undefined if there is none. */
  stat(path: string): Promise<{ path: string; kind: string; size?: number } | undefined>;
  exists(path: string): Promise<boolean>;
  delete(path: string): Promise<void>;
  move(from: string, to: string): Promise<void>;
}

export type Bash = (
  command: string,
  options?: { timeoutMs?: number },
) => Promise<{ exitCode: number; stdout: string; stderr: string; notes: string[] }>;

/** Creates a function that calls a capability and converts its input and output. */
export type CreateFunction = <Args extends unknown[], Output>(
  capability: string,
  toInput: (...args: Args) => unknown,
  toOutput: (output: unknown) => Output,
) => (...args: Args) => Promise<Output>;

export function createFileSystem(create: CreateFunction): { fs: FileSystem; bash: Bash } {
  const toInfoInput = (path: string) => ({ path, only: "info" });
  const ignore = () => {};
  return {
    fs: {
      readFile: create("readFile", (path: string) => ({ path }), decodeContent),
      writeFile: create(
        "writeFile",
        (path: string, content: Content) => ({ path, content: encodeContent(content) }),
        ignore,
      ),
      list: create(
        "listFiles",
        (path?: string) => ({ path }),
        (files) => files as Awaited<ReturnType<FileSystem["list"]>>,
      ),
      stat: create("readFile", toInfoInput, (found) => (found ?? undefined) as Awaited<ReturnType<FileSystem["stat"]>>),
      exists: create("readFile", toInfoInput, (found) => found !== null),
      delete: create("deleteFile", (path: string) => ({ path }), ignore),
      move: create("moveFile", (from: string, to: string) => ({ from, to }), ignore),
    },
    bash: create(
      "bash",
      (command: string, { timeoutMs }: { timeoutMs?: number } = {}) => ({ command, timeoutMs }),
      (output) => output as Awaited<ReturnType<Bash>>,
    ),
  };
}

function decodeContent(output: unknown): string | Uint8Array {
  const { text, base64 } = output as { text?: string; base64?: string };
  return base64 === undefined ? (text ?? "") : decodeBase64(base64);
}

/** Passes on what is neither text nor bytes unchanged, to be rejected with a reason. */
function encodeContent(content: unknown): unknown {
  if (content instanceof ArrayBuffer) return { base64: encodeBase64(new Uint8Array(content)) };
  if (ArrayBuffer.isView(content))
    return { base64: encodeBase64(new Uint8Array(content.buffer, content.byteOffset, content.byteLength)) };
  return typeof content === "string" ? { text: content } : content;
}
