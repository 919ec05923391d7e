import {
  type Code,
  type CodeResult,
  type CodeRunner,
  type Origin,
  type Shell,
  type Team,
  type ToolContext,
  ToolError,
} from "@thinkery/sdk";
import { explainFileDenial } from "../../policy/file-access.ts";
import { attachFiles } from "../../sandbox/linux-files.ts";
import type { NestedSandbox } from "../../sandbox/sandbox.ts";
import { CodeCalls } from "./code-calls.ts";
import { createFiles, createLinuxFiles } from "./files.ts";
import { createModuleFinder } from "./modules.ts";
import { openSchedules } from "./schedules.ts";
import { openShell } from "./shell.ts";
import type { StepContext } from "./step-context.ts";
import { openTasks } from "./tasks.ts";
import { openTeam } from "./team.ts";
import { createWaitReporter } from "./waiting.ts";

/** Identifies a call and its tool. */
export interface CallName {
  callId: string;
  toolName: string;
  /** The call whose code makes this one, and the sandbox that the code runs in. */
  parentCallId?: string;
  inside?: () => NestedSandbox | undefined;
  /** Whether a person has approved the call, and with it the commands it runs. */
  isApproved?: boolean;
}

/** Creates the context of one tool call. */
export function createToolContext(
  call: CallName,
  step: StepContext,
  signal: AbortSignal,
  record: StepContext["record"],
): ToolContext {
  const { callId, toolName, parentCallId = callId } = call;
  const { runId, agent, generate, progress, deps } = step;
  const { workspace, branch, linux, props } = deps;
  const origin: Origin = { kind: "agent", agent, turn: runId, toolCall: parentCallId, tool: toolName };
  const effects = { origin, branch, signal, record };
  let team: Team | undefined;
  const machine = attachFiles(linux, createLinuxFiles(workspace, effects));
  return {
    callId,
    runId,
    agent,
    props,
    signal,
    record,
    putBlob: (content) => step.blobs.put(content),
    generate,
    files: createFiles(workspace, effects),
    shell: createShell(call, step, effects),
    linux: { ...machine, run: (command, options) => keepAlive(callId, step, () => machine.run(command, options)) },
    reportProgress: (text) => progress(callId, text),
    sandbox: createCodeRunner(callId, step, signal),
    subagents: deps.subagents.open({
      runId,
      callId,
      record: step.record,
      addToResult: (create) => step.resultEvents.add(callId, create),
      onBackground: () => deps.tools.enable("tasks"),
    }),
    hasWebhook: (name) => deps.hasWebhook(name),
    get tasks() {
      return openTasks(callId, step);
    },
    schedules: openSchedules(callId, step),
    get team() {
      return (team ??= openTeam(call, step));
    },
  };
}

interface CallEffects {
  origin: Origin;
  signal: AbortSignal;
  record: StepContext["record"];
}

/** Creates the shell of a call. Network access of its commands goes through calls, like that of code. */
function createShell(
  { callId, parentCallId = callId, inside, isApproved = false }: CallName,
  step: StepContext,
  effects: CallEffects,
): Shell {
  const { signal } = effects;
  let calls = 0;
  const openNetwork = () =>
    new CodeCalls({
      parentCallId,
      signal,
      step,
      nextId: () => `${callId}.${++calls}`,
      createContext: (call, ending) => createToolContext({ ...call, parentCallId }, step, ending, step.record),
    });
  const useShell = async <T>(work: (shell: Shell) => Promise<T>): Promise<T> => {
    const network = openNetwork();
    const fetch = (input: string) => network.call("fetch", input);
    const shell = openShell({ callId, step, isApproved, ...effects, fetch, ...(inside ? { inside } : {}) });
    try {
      return await keepAlive(callId, step, () => work(shell));
    } finally {
      await network.close();
    }
  };
  return {
    run: (command, options) => useShell((shell) => shell.run(command, options)),
    search: (options) => useShell((shell) => shell.search(options)),
  };
}

function createCodeRunner(callId: string, step: StepContext, signal: AbortSignal): CodeRunner {
  // Shared by all runs, because a tool may run code more than once per call.
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
  const { timeoutSeconds, maxTimeoutSeconds } = sandbox.limits;
  // Set by the code's first call.
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
        timeoutMs: Math.min(timeoutMs ?? timeoutSeconds * 1000, maxTimeoutSeconds * 1000),
        call(capability, json, current) {
          inside = current;
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

/** Reports activity while work with its own timeout runs, so that the turn does not count as stalled. */
async function keepAlive<T>(callId: string, { progress }: StepContext, work: () => Promise<T>): Promise<T> {
  const heartbeat = setInterval(() => progress(callId, ""), heartbeatMs);
  try {
    return await work();
  } finally {
    clearInterval(heartbeat);
  }
}

/** Nested code is refused: it would wait for a second sandbox while its caller holds the first. */
const noSandbox: CodeRunner = {
  run: () => Promise.reject(new ToolError("no_sandbox", "Code in a sandbox cannot run other code.")),
};
