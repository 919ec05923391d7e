import { spawn } from "node:child_process";
import { mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import net from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { workerdBinary } from "../../packages/daemon/src/host/workerd.ts";
import { buildWorker } from "../../packages/runtime/build.mjs";
import { until } from "./until.ts";

export interface BareWorker {
  url: string;
  folder: string;
  pid: number;
  stop(): Promise<void>;
}

interface BareOptions {
  /** Classes of Durable Objects that the Worker exports; each is bound under its own name. */
  objects?: string[];
  /** Further bindings and services, as pieces of configuration; `@` in them stands for the test's folder. */
  bindings?: string[];
  services?: string[];
}

/** Runs one Worker of ours in workerd by itself, without the host around it. */
export async function bareWorker(entry: URL, { objects = [], bindings = [], services = [] }: BareOptions): Promise<BareWorker> {
  const folder = await mkdtemp(join(tmpdir(), "workerd-"));
  await mkdir(join(folder, "objects"));
  await mkdir(join(folder, "blobs"));
  await buildWorker(fileURLToPath(entry), join(folder, "code"));
  const names = (await readdir(join(folder, "code"))).sort((a, b) => Number(b === "main.js") - Number(a === "main.js"));
  const modules = names.map((name) => `(name = "${name}", esModule = embed "code/${name}")`).join(", ");
  const namespaces = objects.map((name) => `(className = "${name}", uniqueKey = "${name}", enableSql = true)`);
  const bound = [...objects.map((name) => `(name = "${name}", durableObjectNamespace = "${name}")`), ...bindings];
  const port = await freePort();
  const config = `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "main", worker = .main),
    (name = "objects", disk = (path = "@/objects", writable = true)),
    ${services.join(",\n    ")}
  ],
  sockets = [(name = "http", address = "127.0.0.1:${port}", http = (), service = "main")],
);
const main :Workerd.Worker = (
  modules = [${modules}],
  compatibilityDate = "2026-10-01",
  durableObjectNamespaces = [${namespaces.join(", ")}],
  durableObjectStorage = (localDisk = "objects"),
  bindings = [${bound.join(", ")}],
);
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
    pid: child.pid ?? 0,
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
