import { cliPath, createHomePath, startHostProcess, removeHome } from "../tests/kit/host-process.ts";
import { send } from "../tests/kit/wire.ts";
import { type Bench, compareMedians } from "./kit/bench.ts";
import { createBareHello, measureTimeToFirst } from "./kit/time-to-first.ts";

const rounds = 9;

export const start: Bench = {
  name: "start",
  about: "time from the command to the first response, of an agent on the host against bare workerd",
  async run() {
    const hello = await createBareHello(5871);
    const home = await createHomePath();
    const host = await startHostProcess({ home, args: ["--port", "5872"] });
    await host.client.call("createAgent", { params: { agency: "global" }, body: { name: "alice" } });
    const headers = { authorization: `Bearer ${host.token}` };
    await host.stop();

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
        "first response, ours / bare",
        ["the host, first agent response", ours],
        ["bare workerd, hello", bare],
        12,
      ),
    ];
  },
};
