// opencode's server, asked over its HTTP API; `todowrite` is a tool of its own.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { waitUntil } from "../../tests/kit/wait-until.ts";
import type { Subject } from "../kit/subject.ts";
import { missing } from "./in-node.ts";

const program = "opencode-linux-x64/bin/opencode";

export const peer: Subject = {
  name: "opencode",
  durable: true,
  absent: () => missing(program),
  async start(modelBase, model) {
    const folder = await mkdtemp(join(tmpdir(), "opencode-"));
    const config = {
      provider: { zero: { npm: "@ai-sdk/openai-compatible", options: { baseURL: modelBase, apiKey: "x" }, models: { [model]: { name: model, tool_call: true } } } },
      enabled_providers: ["zero"],
      model: `zero/${model}`,
      autoupdate: false,
      share: "disabled",
    };
    const child = spawn(fileURLToPath(new URL(`node_modules/${program}`, import.meta.url)), ["serve", "--port", "0"], {
      cwd: folder,
      stdio: ["ignore", "pipe", "inherit"],
      env: { PATH: process.env.PATH, HOME: folder, OPENCODE_CONFIG_CONTENT: JSON.stringify(config), OPENCODE_DISABLE_MODELS_FETCH: "1", OPENCODE_DISABLE_AUTOUPDATE: "1", OPENCODE_DISABLE_LSP_DOWNLOAD: "1" },
    });
    const url = await address(child);
    const ask = async (path: string, body: object) => {
      const response = await fetch(`${url}${path}`, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) });
      if (!response.ok) throw new Error(`opencode answered ${response.status}: ${await response.text()}`);
      return (await response.json()) as { id: string; info?: { error?: unknown } };
    };
    const sessions = new Map<string, Promise<{ id: string }>>();
    return {
      async turn(agent) {
        if (!sessions.has(agent)) sessions.set(agent, ask("/session", {}));
        const { id } = (await sessions.get(agent)) as { id: string };
        const parts = [{ type: "text", text: "Please note what there is to do." }];
        const { info } = await ask(`/session/${id}/message`, { model: { providerID: "zero", modelID: model }, parts });
        if (info?.error) throw new Error(`opencode: ${JSON.stringify(info.error)}`);
      },
      pids: () => [child.pid ?? 0],
      async stop() {
        const gone = child.exitCode === null ? once(child, "exit") : undefined;
        child.kill("SIGKILL");
        await gone;
        await rm(folder, { recursive: true, force: true });
      },
    };
  },
};

async function address(child: ChildProcess): Promise<string> {
  let printed = "";
  child.stdout?.on("data", (chunk) => (printed += chunk));
  return waitUntil("opencode to listen", () => /http:\/\/127\.0\.0\.1:\d+/.exec(printed)?.[0]);
}
