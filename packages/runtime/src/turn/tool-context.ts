import { type Code, type CodeResult, type CodeRunner, type NewEvent, type Origin, type Shell, type ToolContext, ToolFailure } from "@thinkery/sdk";
import { withFiles } from "../sandbox/linux-files.ts";
import type { Inside } from "../sandbox/sandbox.ts";
import { CodeCalls } from "./code-calls.ts";
import { fileRefusal } from "./file-refusal.ts";
import { filesFor, linuxFilesFor } from "./files.ts";
import type { GateOptions } from "./gate.ts";
import { moduleFinder } from "./modules.ts";
import { shellFor } from "./shell.ts";
import { toldWaiting } from "./waiting.ts";

/** Which call of which tool. */
export interface CallName {
  callId: string;
  toolName: string;
  /** The call whose code makes it, and the sandbox that this code is in. */
  within?: string;
  inside?: () => Inside | undefined;
}

/** What one call of a tool may know and do. */
export function contextOf(call: CallName, gate: GateOptions, signal: AbortSignal, record: (...events: NewEvent[]) => void): ToolContext {
  const { callId, toolName, within = callId } = call;
  const { runId, agent, props, consult, linux, progress } = gate;
  const origin: Origin = { kind: "agent", agent, turn: runId, toolCall: within, tool: toolName };
  const own = { origin, signal, record };
  const machine = withFiles(linux, linuxFilesFor(gate.workspace, own));
  return {
    callId,
    runId,
    agent,
    props,
    signal,
    record,
    putBlob: (content) => gate.blobs.put(content),
    consult,
    files: filesFor(gate.workspace, own),
    shell: shellWithin(call, gate, signal, origin, record),
    linux: { ...machine, run: (command, options) => alive(callId, gate, () => machine.run(command, options)) },
    progress: (text) => progress(callId, text),
    sandbox: runnerFor(callId, gate, signal),
  };
}

/** What a command reaches of the network passes the gate, like what code calls. */
function shellWithin({ callId, within = callId, inside }: CallName, gate: GateOptions, signal: AbortSignal, origin: Origin, record: (...events: NewEvent[]) => void): Shell {
  let calls = 0;
  const opened = () =>
    new CodeCalls({ within, signal, gate, nextId: () => `${callId}.${++calls}`, contextFor: (call, ending) => contextOf({ ...call, within }, gate, ending, gate.record) });
  const during = async <T>(work: (shell: Shell) => Promise<T>): Promise<T> => {
    const network = opened();
    try {
      return await alive(callId, gate, () => work(shellFor({ callId, gate, signal, origin, record, fetch: (input) => network.call("fetch", input), ...(inside ? { inside } : {}) })));
    } finally {
      await network.close();
    }
  };
  return { run: (command, options) => during((shell) => shell.run(command, options)), search: (order) => during((shell) => shell.search(order)) };
}

function runnerFor(callId: string, gate: GateOptions, signal: AbortSignal): CodeRunner {
  // A tool may run code more than once in a call.
  let calls = 0;
  return { run: (code) => alive(callId, gate, () => run(code, { callId, gate, signal, nextId: () => `${callId}.${++calls}` })) };
}

interface RunOptions {
  callId: string;
  gate: GateOptions;
  signal: AbortSignal;
  nextId(): string;
}

async function run({ code, modules = {}, input, timeoutMs }: Code, { callId, gate, signal, nextId }: RunOptions): Promise<CodeResult> {
  const { sandbox, agent, progress, record } = gate;
  const { seconds, mostSeconds } = sandbox.limits;
  // Known as soon as the code calls something.
  let inside: Inside | undefined;
  const calls = new CodeCalls({
    within: callId,
    signal,
    gate,
    nextId,
    contextFor: (call, ending) => ({ ...contextOf({ ...call, within: callId, inside: () => inside }, gate, ending, record), sandbox: noSandbox }),
  });
  const json = input === undefined ? undefined : JSON.stringify(input);
  const findModule = moduleFinder(gate.workspace, (path) => fileRefusal(gate.config, "readFile", path));
  try {
    return await sandbox.run(
      { code, modules, files: true, ...(json === undefined ? {} : { input: json }) },
      {
        agent,
        signal,
        timeoutMs: Math.min(timeoutMs ?? seconds * 1000, mostSeconds * 1000),
        call(capability, json, held) {
          inside = held;
          return capability === "files.module" ? findModule(json) : calls.call(capability, json);
        },
        onConsole: (text) => progress(callId, text),
        ...toldWaiting((text) => progress(callId, text)),
      },
    );
  } finally {
    await calls.close();
  }
}

/** Work that has a time limit of its own is not silent, however little it says until then. */
async function alive<T>(callId: string, { progress }: GateOptions, work: () => Promise<T>): Promise<T> {
  const beat = setInterval(() => progress(callId, ""), 1000);
  try {
    return await work();
  } finally {
    clearInterval(beat);
  }
}

/** A run would wait for a second sandbox while it keeps the first. */
const noSandbox: CodeRunner = {
  run: () => Promise.reject(new ToolFailure("no_sandbox", "Code that runs in a sandbox cannot have other code run.")),
};
