import { type ChildProcess, spawn } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { onTestFinished } from "vitest";
import { cliPath, type HostProcess, startHostProcess } from "./host-process.ts";

const wordList = Array.from({ length: 120 }, (_, index) => `word${index + 1}`);

export const countingText = wordList.join(" ");

const script = `
pace: 10
exchanges:
  - when: plan
    steps:
      - text: "Let me plan."
      - call: { tool: set_title, input: { title: "A plan" } }
      - call: { tool: write_todos, input: { todos: [{ content: one, status: in_progress }, { content: two, status: pending }] } }
      - call: { tool: no_such_tool, input: { a: 1 } }
      - text: "Planned."
  - when: refuse
    steps: [{ fail: 401 }]
  # Pauses in the middle, long enough for another command to start and reach the turn, even on a busy machine.
  - when: count slowly
    steps: [{ text: "${wordList.slice(0, 60).join(" ")} " }, { wait: 6000 }, { text: "${wordList.slice(60).join(" ")}" }]
  - when: count
    steps: [{ reasoning: "I count." }, { text: "${countingText}" }]
  - when: evil
    steps: [{ text: "\\e[2J\\e]0;owned\\a\\u009b31mred\\rover" }]
  - steps: [{ text: "You said: {{ message }}" }]
`;

/** Starts a host whose agents follow a script with a few cues. */
export async function openScriptedHost(names: string[]): Promise<HostProcess> {
  const host = await startHostProcess();
  await mkdir(join(host.home, "scripts"));
  await writeFile(join(host.home, "scripts", "talker.yaml"), script);
  for (const name of names) {
    await host.client.call("createAgent", { params: { agency: "global" }, body: { name, model: "scripted:talker" } });
  }
  return host;
}

export const readAgentState = (host: HostProcess, agent: string) =>
  host.client.call("getState", { params: { agency: "global", agent } });

export interface SpawnedProgram {
  child: ChildProcess;
  out(): string;
  err(): string;
}

/** Runs a program with the host in its environment, and kills it when the test ends. */
export function spawnProgram(host: HostProcess, program: string, args: string[]): SpawnedProgram {
  const env = { PATH: process.env.PATH ?? "", HOME: dirname(host.home), THINKERY_HOME: host.home, NO_COLOR: "1" };
  const child = spawn(program, args, { env, cwd: dirname(host.home), stdio: "pipe" });
  onTestFinished(() => void child.kill("SIGKILL"));
  let out = "";
  let err = "";
  child.stdout?.on("data", (chunk) => (out += chunk));
  child.stderr?.on("data", (chunk) => (err += chunk));
  return { child, out: () => out, err: () => err };
}

export const bindCli =
  (host: HostProcess) =>
  (...args: string[]) =>
    spawnProgram(host, process.execPath, [cliPath, ...args]);
