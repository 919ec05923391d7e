import type { Tool, ToolContext, ToolTrouble, TurnLimits } from "@thinkery/sdk";
import { ToolFailure } from "@thinkery/sdk";
import { UnusableOutput } from "../tools/output.ts";

class OutOfTime extends Error {}

interface MadeCall {
  tool: Tool;
  /** As the tool's schema sees it. */
  input: unknown;
  limits: TurnLimits;
  signal: AbortSignal;
  /** Its context, with the signal that also fires when it has had its time. */
  contextFor(signal: AbortSignal): ToolContext;
}

/** Runs a tool within its time. One that comes back at once costs no timer and no turn of the event loop. */
export function made({ tool, input, limits, signal, contextFor }: MadeCall): unknown {
  if (tool.local) return tool.run(input, contextFor(signal));
  const ending = new AbortController();
  const cancel = () => ending.abort(signal.reason);
  signal.addEventListener("abort", cancel, { once: true });
  const value = tool.run(input, contextFor(ending.signal));
  if (!(value instanceof Promise)) {
    signal.removeEventListener("abort", cancel);
    return value;
  }
  const seconds = tool.seconds ?? limits.toolSeconds;
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => ending.abort(new OutOfTime(`${tool.name} did not answer within ${seconds} s and was given up.`)), seconds * 1000);
    ending.signal.addEventListener("abort", () => reject(ending.signal.reason as Error), { once: true });
    value.then(resolve, reject).finally(() => {
      clearTimeout(timer);
      signal.removeEventListener("abort", cancel);
    });
  });
}

/** What went wrong in a tool, for whoever called it to read. */
export function troubleOf(error: unknown, tool: Tool, signal: AbortSignal): [ToolTrouble, string] {
  if (error instanceof OutOfTime) return ["timeout", error.message];
  if (signal.aborted) return ["canceled", `${tool.name} was canceled.`];
  if (error instanceof ToolFailure) return [error.trouble, error.message];
  if (error instanceof UnusableOutput) return ["too_large", error.message];
  const message = error instanceof Error ? error.message : String(error);
  return ["threw", `${tool.name} failed: ${message.slice(0, 2000)}`];
}

/** A tool's input as its schema sees it, or what is wrong with it. A schema may have code in it, and refer to itself. */
export function inputFor({ input }: Tool, given: unknown): { input?: unknown; problems?: string } {
  try {
    const { success, data, error } = input.safeParse(given);
    if (success) return { input: data };
    // Some models write out what they leave out.
    const again = hasNull(given) ? input.safeParse(Object.fromEntries(Object.entries(given).filter(([, value]) => value !== null))) : undefined;
    if (again?.success) return { input: again.data };
    return { problems: error.issues.slice(0, 5).map(({ path, message }) => `${path.join(".") || "input"}: ${message}`).join("; ") };
  } catch (error) {
    return { problems: `It could not be checked: ${error instanceof Error ? error.message : String(error)}` };
  }
}

function hasNull(given: unknown): given is object {
  return typeof given === "object" && given !== null && Object.values(given).includes(null);
}
