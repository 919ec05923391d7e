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

export interface ModelServer {
  /** Base URL of the OpenAI-compatible API, including `/v1`. */
  base: string;
  stats(): Promise<{ calls: number; bytes: number }>;
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
    stats: async () => (await fetch(`${url}/stats`)).json() as Promise<{ calls: number; bytes: number }>,
    reset: async () => void (await fetch(`${url}/reset`, { method: "POST" })),
    async stop() {
      const exited = once(child, "exit");
      child.kill("SIGKILL");
      await exited;
    },
  };
}
