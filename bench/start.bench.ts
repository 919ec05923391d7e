import { spawn } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { cli, emptyHome, openHouse, removeHome } from "../tests/kit/house.ts";
import { send } from "../tests/kit/wire.ts";
import { workerdBinary } from "../packages/daemon/src/host/workerd.ts";
import { type Bench, ratio } from "./kit/bench.ts";

const rounds = 9;
const bareConfig = `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [(name = "main", worker = (modules = [(name = "hello.js", esModule = "export default { fetch() { return new Response('hello'); } };")], compatibilityDate = "2026-10-01"))],
  sockets = [(name = "http", address = "127.0.0.1:5871", http = (), service = "main")],
);`;

export const start: Bench = {
  name: "start",
  about: "from the command to the first answer, an agent of the host against a hello of bare workerd",
  async run() {
    const bareFolder = await mkdtemp(join(tmpdir(), "bare-"));
    const configFile = join(bareFolder, "hello.capnp");
    await writeFile(configFile, bareConfig);
    const home = await emptyHome();
    const house = await openHouse({ home, args: ["--port", "5872"] });
    await house.client.call("createAgent", { params: { agency: "global" }, body: { name: "alice" } });
    const { token } = house;
    await house.stop();

    const bare: number[] = [];
    const ours: number[] = [];
    for (let round = 0; round < rounds; round++) {
      bare.push(await firstAnswer(workerdBinary(), ["serve", configFile], 5871, "/", {}));
      ours.push(
        await firstAnswer(process.execPath, [cli, "start", "--foreground", "--port", "5872"], 5872, "/agents/think/global~alice", {
          THINKERY_HOME: home,
          PATH: process.env.PATH ?? "",
          TOKEN: token,
        }),
      );
    }
    await rm(bareFolder, { recursive: true, force: true });
    await removeHome(home);
    return [ratio("first answer, ours / bare", ["the host, first agent answer", ours], ["bare workerd, hello", bare], 12)];
  },
};

async function firstAnswer(command: string, args: string[], port: number, path: string, env: Record<string, string>): Promise<number> {
  const begun = performance.now();
  const child = spawn(command, args, { env, stdio: "ignore" });
  const gone = new Promise((resolve) => child.once("exit", resolve));
  const end = begun + 20_000;
  for (;;) {
    const answer = await send({ port, path, headers: env.TOKEN ? { authorization: `Bearer ${env.TOKEN}` } : {} }).catch(() => undefined);
    if (answer) break;
    if (performance.now() > end) throw new Error(`${command} did not answer`);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
  const took = performance.now() - begun;
  child.kill("SIGTERM");
  await gone;
  return took;
}
