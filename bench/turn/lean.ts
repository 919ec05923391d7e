import { startBareWorker } from "../../tests/kit/workerd.ts";
import { SocketPool, type Subject } from "../kit/subject.ts";

/** The baseline: a minimal durable turn in a single Worker. */
export const lean: Subject = {
  name: "lean loop",
  durable: true,
  async start(modelBase, model) {
    const worker = await startBareWorker(new URL("lean.worker.ts", import.meta.url), {
      objects: ["Lean"],
      services: [`(name = "models", network = (allow = ["private", "local"]))`],
      bindings: [`(name = "models", service = "models")`],
    });
    const query = new URLSearchParams({ base: modelBase, model });
    const sockets = new SocketPool((agent) => ({ url: `${worker.url.replace("http", "ws")}/agent/${agent}?${query}` }));
    return {
      turn: (agent) => sockets.runTurn(agent),
      pids: () => [worker.pid],
      async stop() {
        await sockets.close();
        await worker.stop();
      },
    };
  },
};
