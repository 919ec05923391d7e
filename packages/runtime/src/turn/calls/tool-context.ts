import {
  type Code,
  type CodeResult,
  type CodeRunner,
  type Origin,
  type Shell,
  type ToolContext,
  ToolError,
} from "@thinkery/sdk";
import { explainFileDenial } from "../../policy/file-access.ts";
import { attachFiles } from "../../sandbox/linux-files.ts";
import type { NestedSandbox } from "../../sandbox/sandbox.ts";
import { CodeCalls } from "./code-calls.ts";
import { createFiles, createLinuxFiles } from "./files.ts";
import { createModuleFinder } from "./modules.ts";
import { openShell } from "./shell.ts";
import type { StepContext } from "./step-context.ts";
import { createWaitReporter } from "./waiting.ts";

/** Which call of which tool. */
export interface CallName {
  callId: string;
  toolName: string;
  /** The call whose code makes it, and the sandbox that this code is in. */
  parentCallId?: string;
  inside?: () => NestedSandbox | undefined;
}

/** Creates what one call of a tool may know and do. */
export function createToolContext(
  call: CallName,
  step: StepContext,
  signal: AbortSignal,
  record: StepContext["record"],
): ToolContext {
  const { callId, toolName, parentCallId = callId } = call;
  const { runId, agent, consult, progress, deps } = step;
  const { workspace, branch, linux, props } = deps;
  const origin: Origin = { kind: "agent", agent, turn: runId, toolCall: parentCallId, tool: toolName };
  const own = { origin, branch, signal, record };
  const machine = attachFiles(linux, createLinuxFiles(workspace, own));
  return {
    callId,
    runId,
    agent,
    props,
    signal,
    record,
    putBlob: (content) => step.blobs.put(content),
    generate: consult,
    files: createFiles(workspace, own),
    shell: createShell(call, step, own),
    linux: { ...machine, run: (command, options) => keepAlive(callId, step, () => machine.run(command, options)) },
    reportProgress: (text) => progress(callId, text),
    sandbox: createCodeRunner(callId, step, signal),
  };
}

interface CallEffects {
  origin: Origin;
  signal: AbortSignal;
  record: StepContext["record"];
}

/** What a command reaches of the network is a call like those of code. */
function createShell({ callId, parentCallId = callId, inside }: CallName, step: StepContext, own: CallEffects): Shell {
  const { signal } = own;
  let calls = 0;
  const openNetwork = () =>
    new CodeCalls({
      parentCallId,
      signal,
      step,
      nextId: () => `${callId}.${++calls}`,
      createContext: (call, ending) => createToolContext({ ...call, parentCallId }, step, ending, step.record),
    });
  const use = async <T>(work: (shell: Shell) => Promise<T>): Promise<T> => {
    const network = openNetwork();
    const fetch = (input: string) => network.call("fetch", input);
    const shell = openShell({ callId, step, ...own, fetch, ...(inside ? { inside } : {}) });
    try {
      return await keepAlive(callId, step, () => work(shell));
    } finally {
      await network.close();
    }
  };
  return {
    run: (command, options) => use((shell) => shell.run(command, options)),
    search: (order) => use((shell) => shell.search(order)),
  };
}

function createCodeRunner(callId: string, step: StepContext, signal: AbortSignal): CodeRunner {
  // A tool may run code more than once in a call.
  let calls = 0;
  const nextId = () => `${callId}.${++calls}`;
  return { run: (code) => keepAlive(callId, step, () => runCode(code, { callId, step, signal, nextId })) };
}

interface CodeOptions {
  callId: string;
  step: StepContext;
  signal: AbortSignal;
  nextId(): string;
}

async function runCode({ code, modules = {}, input, timeoutMs }: Code, options: CodeOptions): Promise<CodeResult> {
  const { callId, step, signal, nextId } = options;
  const { progress, record, deps } = step;
  const { sandbox, sandboxKey, workspace, branch, config } = deps;
  const { timeoutSeconds: seconds, maxTimeoutSeconds } = sandbox.limits;
  // Known as soon as the code calls something.
  let inside: NestedSandbox | undefined;
  const calls = new CodeCalls({
    parentCallId: callId,
    signal,
    step,
    nextId,
    createContext(call, ending) {
      const name = { ...call, parentCallId: callId, inside: () => inside };
      return { ...createToolContext(name, step, ending, record), sandbox: noSandbox };
    },
  });
  const json = input === undefined ? undefined : JSON.stringify(input);
  const findModule = createModuleFinder(workspace, branch, (path) => explainFileDenial(config, "readFile", path));
  try {
    return await sandbox.run(
      { code, modules, files: true, ...(json === undefined ? {} : { input: json }) },
      {
        agent: sandboxKey,
        signal,
        timeoutMs: Math.min(timeoutMs ?? seconds * 1000, maxTimeoutSeconds * 1000),
        call(capability, json, held) {
          inside = held;
          return capability === "files.module" ? findModule(json) : calls.call(capability, json);
        },
        onConsole: (text) => progress(callId, text),
        ...createWaitReporter((text) => progress(callId, text)),
      },
    );
  } finally {
    await calls.close();
  }
}

const heartbeatMs = 1000;

/** Work with a time limit of its own counts as progress, however little it shows until then. */
async function keepAlive<T>(callId: string, { progress }: StepContext, work: () => Promise<T>): Promise<T> {
  const heartbeat = setInterval(() => progress(callId, ""), heartbeatMs);
  try {
    return await work();
  } finally {
    clearInterval(heartbeat);
  }
}

/** A run would wait for a second sandbox while it holds the first. */
const noSandbox: CodeRunner = {
  run: () => Promise.reject(new ToolError("no_sandbox", "Code that runs in a sandbox cannot have other code run.")),
};
