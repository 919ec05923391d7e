import {
  type Bash,
  type CallFetch,
  createFetch,
  createFileSystem,
  type CreateFunction,
  type FileSystem,
} from "@thinkery/sdk/agent-host";
import type { RunHost } from "../../run.ts";
import { Queue } from "./queue.ts";

interface Capabilities {
  tools: Record<string, (input?: unknown) => Promise<unknown>>;
  echo(value: unknown): Promise<unknown>;
  fetch: CallFetch;
  fs: FileSystem;
  bash: Bash;
}

const maxConcurrentCalls = 64;

const { parse, stringify } = JSON;

/**
 * Creates what code can call in main: tools, files, echo, and fetch within the policy. `open` lists the calls in
 * progress.
 */
export function createCapabilities(host: RunHost, open: string[] = []): Capabilities {
  const queue = new Queue(maxConcurrentCalls);
  /** Errors from main know what went wrong, but not where the code made the call: `caller` has that stack. */
  const call = async (capability: string, input: string, caller: Error): Promise<unknown> => {
    open.push(capability);
    try {
      const output = await queue.run(() => host.call(capability, input));
      return output === "" ? undefined : parse(output);
    } catch (error) {
      const message = (error as Error)?.message ?? String(error);
      throw toCallError(caller, message.includes("after being disposed") ? "The run or request is over." : message);
    } finally {
      open.splice(open.indexOf(capability), 1);
    }
  };
  const createTool = (name: string) => {
    const callTool = async (input: unknown = {}) =>
      call(`tools.${name}`, stringify(input) ?? "{}", captureCaller(callTool));
    return callTool;
  };
  const echo = async (value: unknown) => call("echo", stringify(value) ?? "null", captureCaller(echo));
  const fetch = createFetch((callee) => {
    const caller = captureCaller(callee);
    return (input) => call("fetch", stringify(input), caller);
  });
  const createFunction: CreateFunction = (capability, toInput, toOutput) => {
    const callCapability = async (...args: Parameters<typeof toInput>) => {
      const caller = captureCaller(callCapability);
      return toOutput(await call(capability, stringify(toInput(...args)), caller));
    };
    return callCapability;
  };
  return {
    ...createFileSystem(createFunction),
    // `await tools` looks for a method “then”; there is no tool of this name.
    tools: new Proxy(
      {},
      { get: (_, name) => (typeof name === "string" && name !== "then" ? createTool(name) : undefined) },
    ) as Capabilities["tools"],
    echo,
    fetch,
  };
}

/** Returns an error with the stack of the caller, without our own frames. */
function captureCaller(callee: Function): Error {
  const error = new Error("caller");
  Error.captureStackTrace(error, callee);
  return error;
}

function toCallError(caller: Error, message: string): Error {
  const [, ...frames] = (caller.stack ?? "").split("\n");
  caller.message = message;
  caller.stack = [`Error: ${message}`, ...frames].join("\n");
  return caller;
}
