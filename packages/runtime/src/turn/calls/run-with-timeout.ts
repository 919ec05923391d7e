import { type Tool, type ToolContext, ToolError, type ToolErrorCode } from "@thinkery/sdk";
import type { TurnLimits } from "@thinkery/sdk/internal";
import { UnusableOutputError } from "../../tools/output.ts";

/** Why a call failed. */
export interface CallFailure {
  code: ToolErrorCode;
  message: string;
}

class ToolTimeoutError extends Error {}

interface RunOptions {
  tool: Tool;
  execute(context: ToolContext): unknown;
  /** A local tool returns before a timer could fire, so it gets none. */
  isLocal: boolean;
  limits: TurnLimits;
  signal: AbortSignal;
  /** Creates the tool's context with a signal that also aborts on timeout. */
  createContext(signal: AbortSignal): ToolContext;
}

/** Runs a tool with a timeout. A tool that returns synchronously needs no timer and no turn of the event loop. */
export function runWithTimeout({ tool, execute, isLocal, limits, signal, createContext }: RunOptions): unknown {
  if (isLocal) return execute(createContext(signal));
  const ending = new AbortController();
  const cancel = () => ending.abort(signal.reason);
  signal.addEventListener("abort", cancel, { once: true });
  const value = execute(createContext(ending.signal));
  if (!(value instanceof Promise)) {
    signal.removeEventListener("abort", cancel);
    return value;
  }
  const seconds = tool.timeoutSeconds ?? limits.toolTimeoutSeconds;
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      ending.abort(new ToolTimeoutError(`${tool.name} did not finish within ${seconds} s.`));
    }, seconds * 1000);
    ending.signal.addEventListener("abort", () => reject(ending.signal.reason as Error), { once: true });
    value.then(resolve, reject).finally(() => {
      clearTimeout(timer);
      signal.removeEventListener("abort", cancel);
    });
  });
}

const maxErrorChars = 2000;

/** Describes an error of a tool for its caller. */
export function describeFailure(error: unknown, tool: Tool, signal: AbortSignal): CallFailure {
  if (error instanceof ToolTimeoutError) return { code: "timeout", message: error.message };
  if (signal.aborted) return { code: "canceled", message: `${tool.name} was canceled.` };
  if (error instanceof ToolError) return { code: error.code, message: error.message };
  if (error instanceof UnusableOutputError) return { code: "too_large", message: error.message };
  const message = error instanceof Error ? error.message : String(error);
  return { code: "threw", message: `${tool.name} failed: ${message.slice(0, maxErrorChars)}` };
}
