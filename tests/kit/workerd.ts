import { spawn } from "node:child_process";
import { mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import net from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buildWorker } from "../../scripts/build-worker.mjs";
import { until } from "./until.ts";

const require = createRequire(import.meta.url);

/** Where the workerd binary is on this machine. */
export function workerdBinary(): string {
  const arch = process.arch === "arm64" ? "arm64" : "64";
  return require.resolve(`@cloudflare/workerd-${process.platform}-${arch}/bin/workerd`);
}

export interface BareWorker {
  url: string;
  folder: string;
  stop(): Promise<void>;
}

/**
 * Runs one Worker of ours in workerd by itself, without the host around it. `worker` and `services` are pieces
 * of its configuration; `@` in them stands for the test's folder.
 */
export async function bareWorker(entry: string, { worker = "", services = "" } = {}): Promise<BareWorker> {
  const folder = await mkdtemp(join(tmpdir(), "workerd-"));
  await mkdir(join(folder, "objects"));
  await mkdir(join(folder, "blobs"));
  await buildWorker(entry, join(folder, "code"));
  const names = (await readdir(join(folder, "code"))).sort((a, b) => Number(b === "main.js") - Number(a === "main.js"));
  const modules = names.map((name) => `(name = "${name}", esModule = embed "code/${name}")`).join(", ");
  const port = await freePort();
  const config = `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "main", worker = .main),
    (name = "objects", disk = (path = "@/objects", writable = true)),
    ${services}
  ],
  sockets = [(name = "http", address = "127.0.0.1:${port}", http = (), service = "main")],
);
const main :Workerd.Worker = (modules = [${modules}], compatibilityDate = "2026-10-01", ${worker});
`;
  await writeFile(join(folder, "config.capnp"), config.replaceAll("@/", `${folder}/`));
  const child = spawn(workerdBinary(), ["serve", join(folder, "config.capnp")], { stdio: ["ignore", "inherit", "inherit"] });
  const url = `http://127.0.0.1:${port}`;
  await until("workerd to answer", async () => {
    if (child.exitCode !== null) throw new Error("workerd could not start");
    return (await fetch(url).catch(() => undefined)) && true;
  });
  return {
    url,
    folder,
    async stop() {
      const gone = new Promise((resolve) => child.once("exit", resolve));
      child.kill("SIGKILL");
      await gone;
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function freePort(): Promise<number> {
  const server = net.createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as net.AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
