import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll } from "vitest";
import { createHomePath, type HostProcess, removeHome, type RunOptions, startHostProcess } from "./host-process.ts";
import { spawnCli } from "./spawn-cli.ts";

/** Scripted models of a small team: `lead` asks `worker`, who takes a while, and answers with what it says. */
const scripts = {
  lead: [
    { when: "from worker", steps: [{ text: "It is done.\n{{ message }}" }] },
    {
      when: "ask me",
      steps: [{ call: { tool: "askUser", input: { prompt: "Which color?" } } }, { text: "Color: {{ results.0 }}" }],
    },
    {
      when: "delete",
      steps: [
        { call: { tool: "writeFile", input: { path: "a.txt", content: "a" } } },
        { call: { tool: "deleteFile", input: { path: "a.txt" } } },
        { text: "Heard: {{ results.1 }}" },
      ],
    },
    { when: "spend", steps: [{ call: { tool: "listFiles", input: {} } }, { text: "Spent." }] },
    { when: "break", steps: [{ fail: 401 }] },
    { when: "alone", steps: [{ text: "\u001b[31mDone\u001b[0m alone." }] },
    {
      steps: [
        { call: { tool: "channel_send", input: { message: "@worker please\ndo it" } } },
        { text: "I have asked @worker." },
      ],
    },
  ],
  worker: [
    {
      when: "from lead",
      steps: [
        { wait: 1500 },
        { call: { tool: "writeFile", input: { path: "b.txt", content: "b" } } },
        { wait: 500 },
        { call: { tool: "channel_send", input: { message: "@lead finished" } } },
        { text: "I have finished." },
      ],
    },
    { steps: [{ text: "Worker heard: {{ message }}" }] },
  ],
};

export const team = `
name: team
agents:
  lead: { model: "scripted:lead", role: Leads. }
  worker: { model: "scripted:worker" }
vars: { what: it }
kickoff: "@lead Do \${{ vars.what }}"
`;

/** A workflow with one agent, which does what its kickoff says. */
export const createSolo = (kickoff: string, more = "") =>
  `name: solo\nagents: { lead: { model: "scripted:lead" } }\nkickoff: ${JSON.stringify(kickoff)}\n${more}`;

/** Starts a host with scripted models before the tests of a file, and runs the CLI in folders with workflow files. */
export function useWorkflowHost() {
  let host: HostProcess;
  let home: string;

  beforeAll(async () => {
    home = await createHomePath();
    await mkdir(join(home, "scripts"), { recursive: true, mode: 0o700 });
    for (const [name, script] of Object.entries(scripts))
      await writeFile(join(home, "scripts", `${name}.yaml`), JSON.stringify(script));
    const config = { model: "scripted:lead", policy: [{ tool: "deleteFile", action: "ask" }] };
    await writeFile(join(home, "config.jsonc"), JSON.stringify(config));
    host = await startHostProcess({ home });
  });

  afterAll(async () => {
    await host?.stop();
    await removeHome(home);
  });

  return {
    host: () => host,
    /** Creates a working folder with these files. It is deleted with the host. */
    async createFolder(files: Record<string, string> = {}) {
      const cwd = await mkdtemp(join(home, "..", "work-"));
      for (const [name, text] of Object.entries(files)) await writeFile(join(cwd, name), text);
      return {
        cwd,
        run: (args: string[], options: RunOptions = {}) => host.runCli(args, { cwd, ...options }),
        spawn: (args: string[], env: Record<string, string> = {}) => spawnCli(args, home, { cwd, env }),
        remove: () => rm(cwd, { recursive: true }),
      };
    },
  };
}
