import { spawn } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { workerdBinary } from "../../packages/daemon/src/host/workerd.ts";
import { send } from "../../tests/kit/wire.ts";

const bareConfig = (port: number) => `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [(name = "main", worker = (modules = [(name = "hello.js", esModule = "export default { fetch() { return new Response('hello'); } };")], compatibilityDate = "2026-10-01"))],
  sockets = [(name = "http", address = "127.0.0.1:${port}", http = (), service = "main")],
);`;

/** Milliseconds from the command until `tried` succeeds for the first time; then the process is ended. */
export async function timeToFirst(command: string, args: string[], env: Record<string, string>, tried: () => Promise<unknown>): Promise<number> {
  const begun = performance.now();
  const child = spawn(command, args, { env, stdio: "ignore" });
  const gone = new Promise((resolve) => child.once("exit", resolve));
  const end = begun + 20_000;
  try {
    for (;;) {
      const done = await tried().then(
        () => true,
        () => false,
      );
      if (done) return performance.now() - begun;
      if (performance.now() > end) throw new Error(`${command} did not answer`);
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
  } finally {
    child.kill("SIGTERM");
    await gone;
  }
}

/** The least that workerd can do, to start anew as often as wanted. */
export async function bareHello(port: number): Promise<{ first(): Promise<number>; remove(): Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), "bare-"));
  const file = join(folder, "hello.capnp");
  await writeFile(file, bareConfig(port));
  return {
    first: () => timeToFirst(workerdBinary(), ["serve", file], {}, () => send({ port, path: "/" })),
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}
