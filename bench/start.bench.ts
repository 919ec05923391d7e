import { cliPath, createHomePath, startHostProcess, removeHome } from "../tests/kit/host-process.ts";
import { send } from "../tests/kit/wire.ts";
import { type Bench, compareMedians } from "./kit/bench.ts";
import { createBareHello, measureTimeToFirst } from "./kit/time-to-first.ts";

const rounds = 9;

export const start: Bench = {
  name: "start",
  about: "from the command to the first answer, an agent of the host against a hello of bare workerd",
  async run() {
    const hello = await createBareHello(5871);
    const home = await createHomePath();
    const house = await startHostProcess({ home, args: ["--port", "5872"] });
    await house.client.call("createAgent", { params: { agency: "global" }, body: { name: "alice" } });
    const headers = { authorization: `Bearer ${house.token}` };
    await house.stop();

    const bare: number[] = [];
    const ours: number[] = [];
    const env = { THINKERY_HOME: home, PATH: process.env.PATH ?? "" };
    for (let round = 0; round < rounds; round++) {
      bare.push(await hello.first());
      ours.push(
        await measureTimeToFirst(process.execPath, [cliPath, "start", "--foreground", "--port", "5872"], env, () =>
          send({ port: 5872, path: "/agents/think/global~alice", headers }),
        ),
      );
    }
    await hello.remove();
    await removeHome(home);
    return [
      compareMedians(
        "first answer, ours / bare",
        ["the host, first agent answer", ours],
        ["bare workerd, hello", bare],
        12,
      ),
    ];
  },
};
