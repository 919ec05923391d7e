import { type Code, type CodeResult, type CodeRunner, type NewEvent, type ToolContext, ToolFailure } from "@thinkery/sdk";
import { CodeCalls } from "./code-calls.ts";
import type { GateOptions } from "./gate.ts";

/** What one call of a tool may know and do. */
export function contextOf(callId: string, gate: GateOptions, signal: AbortSignal, record: (...events: NewEvent[]) => void): ToolContext {
  const { runId, agent, props, consult, linux, progress } = gate;
  return {
    callId,
    runId,
    agent,
    props,
    signal,
    record,
    putBlob: (content) => gate.blobs.put(content),
    consult,
    linux: { ...linux, run: (command, options) => alive(callId, gate, () => linux.run(command, options)) },
    progress: (text) => progress(callId, text),
    sandbox: runnerFor(callId, gate, signal),
  };
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
  const calls = new CodeCalls({
    within: callId,
    signal,
    gate,
    nextId,
    contextFor: (id, ending) => ({ ...contextOf(id, gate, ending, record), sandbox: noSandbox }),
  });
  const json = input === undefined ? undefined : JSON.stringify(input);
  let waited = false;
  try {
    return await sandbox.run(
      { code, modules, ...(json === undefined ? {} : { input: json }) },
      {
        agent,
        signal,
        timeoutMs: Math.min(timeoutMs ?? seconds * 1000, mostSeconds * 1000),
        call: (capability, json) => calls.call(capability, json),
        onConsole: (text) => progress(callId, text),
        onPlace: (before) => {
          waited = true;
          progress(callId, before === 0 ? "Waiting for a sandbox.\n" : `Waiting for a sandbox: ${before} ${before === 1 ? "run goes" : "runs go"} first.\n`);
        },
        onBegin: () => waited && progress(callId, "It has a sandbox and runs.\n"),
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
