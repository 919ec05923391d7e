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
  # Stops in the middle for long enough that another command can start and reach the turn, on a busy machine too.
  - when: count slowly
    steps: [{ text: "${wordList.slice(0, 60).join(" ")} " }, { wait: 6000 }, { text: "${wordList.slice(60).join(" ")}" }]
  - when: count
    steps: [{ reasoning: "I count." }, { text: "${countingText}" }]
  - when: evil
    steps: [{ text: "\\e[2J\\e]0;owned\\a\\u009b31mred\\rover" }]
  - steps: [{ text: "You said: {{ message }}" }]
`;

/** A house whose agents answer by a script that knows a few cues. */
export async function openScriptedHost(names: string[]): Promise<HostProcess> {
  const house = await startHostProcess();
  await mkdir(join(house.home, "scripts"));
  await writeFile(join(house.home, "scripts", "talker.yaml"), script);
  for (const name of names) {
    await house.client.call("createAgent", { params: { agency: "global" }, body: { name, model: "scripted:talker" } });
  }
  return house;
}

export const readAgentState = (house: HostProcess, agent: string) =>
  house.client.call("getState", { params: { agency: "global", agent } });

export interface SpawnedProgram {
  child: ChildProcess;
  out(): string;
  err(): string;
}

/** A program with the house in its environment, ended with the test. */
export function spawnProgram(house: HostProcess, program: string, args: string[]): SpawnedProgram {
  const env = { PATH: process.env.PATH ?? "", HOME: dirname(house.home), THINKERY_HOME: house.home, NO_COLOR: "1" };
  const child = spawn(program, args, { env, cwd: dirname(house.home), stdio: "pipe" });
  onTestFinished(() => void child.kill("SIGKILL"));
  let out = "";
  let err = "";
  child.stdout?.on("data", (chunk) => (out += chunk));
  child.stderr?.on("data", (chunk) => (err += chunk));
  return { child, out: () => out, err: () => err };
}

export const bindCli =
  (house: HostProcess) =>
  (...args: string[]) =>
    spawnProgram(house, process.execPath, [cliPath, ...args]);
