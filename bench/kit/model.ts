import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

const loader = new URL("../../scripts/typescript.mjs", import.meta.url).href;

/** Runs a program of ours in another Node, types and all. */
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

export interface ModelServer {
  /** Where the OpenAI wire format is spoken, `/v1` included. */
  base: string;
  stats(): Promise<{ calls: number; bytes: number }>;
  reset(): Promise<void>;
  stop(): Promise<void>;
}

/** Starts the model that needs no time to think in a process of its own, so that its work is not counted as a subject's. */
export async function startModelServer(): Promise<ModelServer> {
  const child = spawnNode(new URL("model-server.ts", import.meta.url), []);
  const [line] = (await once(child.stdout!, "data")) as [Buffer];
  const url = `http://127.0.0.1:${line.toString().trim()}`;
  return {
    base: `${url}/v1`,
    stats: async () => (await fetch(`${url}/stats`)).json() as Promise<{ calls: number; bytes: number }>,
    reset: async () => void (await fetch(`${url}/reset`, { method: "POST" })),
    async stop() {
      const gone = once(child, "exit");
      child.kill("SIGKILL");
      await gone;
    },
  };
}
