import { copyBuild } from "../tests/kit/build-copy.ts";
import { startHostProcess } from "../tests/kit/host-process.ts";
import { type Bench, compareMedians } from "./kit/bench.ts";
import { createDialer, createModelEnvironment } from "./kit/host-subject.ts";
import { startModelServer } from "./kit/model.ts";
import { AgentSocket } from "./kit/subject.ts";

const rounds = 60;
const warmUp = 3;
const turns = 25;

export const middleware: Bench = {
  name: "middleware",
  about:
    "p50 of a turn with one tool call, for an agent with ten middlewares that do nothing in every hook, against one without",
  async run() {
    const model = await startModelServer();
    const build = await copyBuild({ worker: new URL("middleware.worker.ts", import.meta.url) });
    const host = await startHostProcess({ env: createModelEnvironment(model.base), program: build.program });
    const dial = createDialer(host);
    const open = async (name: string, blueprint: string) => {
      await host.client.call("createAgent", {
        params: { agency: "global" },
        body: { name, blueprint, model: "openai:zero-8" },
      });
      return AgentSocket.open(dial(name));
    };
    const [ten, none]: number[][] = [[], []];
    try {
      for (let round = 0; round < rounds; round++) {
        const pair = [
          { socket: await open(`ten-${round}`, "idle"), times: ten },
          { socket: await open(`none-${round}`, "think"), times: none },
        ];
        // Alternating, and not always in the same order.
        for (let turn = -warmUp; turn < turns; turn++) {
          for (const { socket, times } of turn % 2 ? pair : pair.toReversed()) {
            const startedAt = performance.now();
            await socket.runTurn();
            if (turn >= 0) times?.push(performance.now() - startedAt);
          }
        }
        for (const { socket } of pair) socket.close();
      }
    } finally {
      await host.stop();
      await build.remove();
      await model.stop();
    }
    return [
      compareMedians(
        "p50, ten middlewares / none",
        ["with ten middlewares", ten ?? []],
        ["with none", none ?? []],
        1.05,
      ),
    ];
  },
};
