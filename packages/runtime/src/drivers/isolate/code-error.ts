/** An error of an agent's code, described for its author. */
export class CodeError extends Error {
  override readonly name = "CodeError";
  readonly advice: string | undefined;

  constructor(message: string, advice?: string) {
    super(message);
    this.advice = advice;
  }
}

/** Describes the error that a handler threw: its message, and where in the author's files it was thrown. */
export function describeHandlerError({
  name,
  message,
  stack = "",
}: {
  name: string;
  message: string;
  stack?: string;
}): string {
  const positions = stack
    .split("\n")
    .map((line) => /^\s+at (.*)$/.exec(line)?.[1]?.trim())
    .filter((frame): frame is string => frame !== undefined && !frame.includes("/thinkery/"))
    .slice(0, maxFrames);
  const text = name === "Error" || name === "ToolCallError" ? message : `${name}: ${message}`;
  return [text.slice(0, maxMessageChars), ...positions.map((frame) => `    at ${frame}`)].join("\n");
}

const maxFrames = 5;
const maxMessageChars = 4000;
