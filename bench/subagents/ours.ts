import { type HostSubject, openHostSubject } from "../kit/host-subject.ts";
import { createTeamMessages } from "../kit/model.ts";
import { type RunningSubject, SocketPool, type Subject } from "../kit/subject.ts";

export interface Team extends RunningSubject {
  subject: HostSubject;
}

/** A whole host; each turn of an agent but its first one delegates with `task` and waits for the reports. */
export async function startTeam(modelBase: string, model: string): Promise<Team> {
  const subject = await openHostSubject(modelBase);
  const sockets = new SocketPool(subject.dial);
  const created = new Set<string>();
  const createMessage = createTeamMessages();
  return {
    subject,
    async turn(agent) {
      if (!created.has(agent)) {
        created.add(agent);
        await subject.create(agent, model);
      }
      await sockets.runTurn(agent, createMessage(agent));
    },
    pids: subject.pids,
    async stop() {
      await sockets.close();
      await subject.host.stop();
    },
  };
}

export const ours: Subject = { name: "ours", durable: true, start: startTeam };
