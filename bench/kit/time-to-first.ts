import { spawn } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findWorkerdBinary } from "../../packages/daemon/src/host/workerd.ts";
import { send } from "../../tests/kit/wire.ts";

const createBareConfig = (port: number) => `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [(name = "main", worker = (modules = [(name = "hello.js", esModule = "export default { fetch() { return new Response('hello'); } };")], compatibilityDate = "2026-10-01"))],
  sockets = [(name = "http", address = "127.0.0.1:${port}", http = (), service = "main")],
);`;

/** Returns the milliseconds from starting the command until `attempt` first succeeds; then ends the process. */
export async function measureTimeToFirst(
  command: string,
  args: string[],
  env: Record<string, string>,
  attempt: () => Promise<unknown>,
): Promise<number> {
  const startedAt = performance.now();
  const child = spawn(command, args, { env, stdio: "ignore" });
  const exited = new Promise((resolve) => child.once("exit", resolve));
  const end = startedAt + 20_000;
  try {
    for (;;) {
      const done = await attempt().then(
        () => true,
        () => false,
      );
      if (done) return performance.now() - startedAt;
      if (performance.now() > end) throw new Error(`${command} did not respond`);
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
  } finally {
    child.kill("SIGTERM");
    await exited;
  }
}

/** A minimal workerd that can be started repeatedly. */
export async function createBareHello(port: number): Promise<{ first(): Promise<number>; remove(): Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), "bare-"));
  const file = join(folder, "hello.capnp");
  await writeFile(file, createBareConfig(port));
  return {
    first: () => measureTimeToFirst(findWorkerdBinary(), ["serve", file], {}, () => send({ port, path: "/" })),
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}
