import { openHostSubject } from "../kit/host-subject.ts";
import { SocketPool, type Subject } from "../kit/subject.ts";

/** A whole host with everything on: log, ledger, action log, one socket for each agent. */
export const ours: Subject = {
  name: "ours",
  durable: true,
  async start(modelBase, model) {
    const { house, create, dial, pids } = await openHostSubject(modelBase);
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
        await house.stop();
      },
    };
  },
};
