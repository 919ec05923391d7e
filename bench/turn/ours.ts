import { openHostSubject } from "../kit/host-subject.ts";
import { SocketPool, type Subject } from "../kit/subject.ts";

/** A whole host with all features on: log, ledger, action log, one socket per agent. */
export const ours: Subject = {
  name: "ours",
  durable: true,
  async start(modelBase, model) {
    const { host, create, dial, pids } = await openHostSubject(modelBase);
    const sockets = new SocketPool(dial);
    const created = new Set<string>();
    return {
      async turn(agent) {
        if (!created.has(agent)) {
          created.add(agent);
          await create(agent, model);
        }
        await sockets.runTurn(agent);
      },
      pids,
      async stop() {
        await sockets.close();
        await host.stop();
      },
    };
  },
};
