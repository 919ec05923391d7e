import { copyBuild } from "../tests/kit/build-copy.ts";
import { openHouse } from "../tests/kit/house.ts";
import { type Bench, ratio } from "./kit/bench.ts";
import { startModel } from "./kit/model.ts";
import { dialer, modelEnvironment } from "./kit/ours.ts";
import { Talk } from "./kit/subject.ts";

const rounds = 60;
const warmUp = 3;
const turns = 25;

export const middleware: Bench = {
  name: "middleware",
  about: "p50 of a turn with one tool call, of an agent with ten middlewares that do nothing in every hook against one without",
  async run() {
    const model = await startModel();
    const build = await copyBuild({ worker: new URL("middleware.worker.ts", import.meta.url) });
    const house = await openHouse({ env: modelEnvironment(model.base), program: build.program });
    const dial = dialer(house);
    const open = async (name: string, blueprint: string) => {
      await house.client.call("createAgent", { params: { agency: "global" }, body: { name, blueprint, model: "openai:zero-8" } });
      return Talk.open(dial(name));
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
            await talk.turn();
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
    return [ratio("p50, ten middlewares / none", ["with ten middlewares", ten ?? []], ["with none", none ?? []], 1.05)];
  },
};
