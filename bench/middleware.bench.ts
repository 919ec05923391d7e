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
    "p50 of a turn with one tool call, of an agent with ten middlewares that do nothing in every hook against one without",
  async run() {
    const model = await startModelServer();
    const build = await copyBuild({ worker: new URL("middleware.worker.ts", import.meta.url) });
    const house = await startHostProcess({ env: createModelEnvironment(model.base), program: build.program });
    const dial = createDialer(house);
    const open = async (name: string, blueprint: string) => {
      await house.client.call("createAgent", {
        params: { agency: "global" },
        body: { name, blueprint, model: "openai:zero-8" },
      });
      return AgentSocket.open(dial(name));
    };
    const [ten, none]: number[][] = [[], []];
    try {
      for (let round = 0; round < rounds; round++) {
        const pair = [
          { talk: await open(`ten-${round}`, "idle"), times: ten },
          { talk: await open(`none-${round}`, "think"), times: none },
        ];
        // Turn by turn, and not always the same one first.
        for (let turn = -warmUp; turn < turns; turn++) {
          for (const { talk, times } of turn % 2 ? pair : pair.toReversed()) {
            const begun = performance.now();
            await talk.runTurn();
            if (turn >= 0) times?.push(performance.now() - begun);
          }
        }
        for (const { talk } of pair) talk.close();
      }
    } finally {
      await house.stop();
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
