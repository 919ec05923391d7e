// @cloudflare/think as its guide shows it, in bare workerd, with one client on its own chat protocol for each agent.
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { WebSocket } from "ws";
import { startBareWorker } from "../../tests/kit/workerd.ts";
import type { Subject } from "../kit/subject.ts";
import { missing } from "./in-node.ts";

export const peer = createThink("think-worker.ts", () => "Please note what there is to do.");

/** A worker whose agents are called `Keeper`, and the message that each is sent. */
export function createThink(file: string, createText: (agent: string) => string): Subject {
  return {
  name: "@cloudflare/think",
  durable: true,
  absent: () => missing("@cloudflare/think"),
  async start(modelBase, model) {
    const worker = await startBareWorker(new URL(file, import.meta.url), {
      objects: ["Keeper"],
      services: [`(name = "models", network = (allow = ["private", "local"]))`],
      bindings: [`(name = "models", service = "models")`, `(name = "BASE", text = "${modelBase}")`, `(name = "MODEL", text = "${model}")`],
    });
    const sockets = new Map<string, Promise<WebSocket>>();
    const open = async (agent: string) => {
      const socket = new WebSocket(`${worker.url.replace("http", "ws")}/agents/keeper/${agent}`, { perMessageDeflate: false });
      await once(socket, "open");
      return socket;
    };
    return {
      async turn(agent) {
        if (!sockets.has(agent)) sockets.set(agent, open(agent));
        const socket = (await sockets.get(agent)) as WebSocket;
        const id = randomUUID();
        const over = new Promise<void>((resolve, reject) => {
          const take = (data: unknown) => {
            const frame = JSON.parse(String(data)) as { type: string; id?: string; done?: boolean; error?: boolean };
            if (frame.type !== "cf_agent_use_chat_response" || frame.id !== id || !(frame.done || frame.error)) return;
            socket.off("message", take);
            if (frame.error) reject(new Error(String(data)));
            else resolve();
          };
          socket.on("message", take);
        });
        const message = { id: randomUUID(), role: "user", parts: [{ type: "text", text: createText(agent) }] };
        const body = JSON.stringify({ messages: [message], trigger: "submit-message" });
        socket.send(JSON.stringify({ type: "cf_agent_use_chat_request", id, init: { method: "POST", body } }));
        await over;
      },
      pids: () => [worker.pid],
      async stop() {
        for (const socket of await Promise.all(sockets.values())) socket.terminate();
        await worker.stop();
      },
    };
  },
  };
}
