import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

const loader = new URL("../../scripts/typescript.mjs", import.meta.url).href;

/** Runs one of our TypeScript programs in another Node process. */
export function spawnNode(
  file: URL,
  args: string[],
  node = process.execPath,
  stdio: "pipe" | "ipc" = "pipe",
): ChildProcess {
  const last = stdio === "ipc" ? (["inherit", "ipc"] as const) : (["inherit"] as const);
  return spawn(node, ["--disable-warning=ExperimentalWarning", "--import", loader, fileURLToPath(file), ...args], {
    stdio: ["ignore", stdio === "ipc" ? "inherit" : "pipe", ...last],
  });
}

/**
 * Returns what agents are told: at first to say a word, so that they exist, and then to delegate. A `fan` model
 * delegates to as many sub-agents as the agent's name says, such as 8 for `team-8-0`.
 */
export function createTeamMessages(): (agent: string) => string {
  const known = new Set<string>();
  return (agent) => {
    if (known.has(agent)) return `Delegate all of it, ${agent}.`;
    known.add(agent);
    return "Say one word.";
  };
}

export function readTeamSize(text: string): number {
  return Number(/Delegate all of it, [a-z]+-(\d+)/.exec(text)?.[1] ?? 0);
}

/** What the model was asked since the last reset. */
export interface ModelStats {
  calls: number;
  bytes: number;
  /** Bytes of the definitions of each tool, in all calls. */
  toolBytes: Record<string, number>;
  /** When each call arrived, in milliseconds since 1970. */
  arrivals: number[];
  /** When the last parent was told to call its sub-agents. */
  delegatedAt: number;
}

export interface ModelServer {
  /** Base URL of the OpenAI-compatible API, including `/v1`. */
  base: string;
  stats(): Promise<ModelStats>;
  reset(): Promise<void>;
  stop(): Promise<void>;
}

/** Starts the model in a separate process, so that its work is not attributed to a subject. */
export async function startModelServer(): Promise<ModelServer> {
  const child = spawnNode(new URL("model-server.ts", import.meta.url), []);
  const [line] = (await once(child.stdout!, "data")) as [Buffer];
  const url = `http://127.0.0.1:${line.toString().trim()}`;
  return {
    base: `${url}/v1`,
    stats: async () => (await fetch(`${url}/stats`)).json() as Promise<ModelStats>,
    reset: async () => void (await fetch(`${url}/reset`, { method: "POST" })),
    async stop() {
      const exited = once(child, "exit");
      child.kill("SIGKILL");
      await exited;
    },
  };
}
