import { spawn } from "node:child_process";
import { mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import net from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findWorkerdBinary } from "../../packages/daemon/src/host/workerd.ts";
import { waitUntil } from "./wait-until.ts";
import { bundleWorker } from "./worker-bundle.ts";

export interface BareWorker {
  url: string;
  folder: string;
  pid: number;
  /** Kills it as a crash would, and restarts it on the same port and disk. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

interface BareWorkerOptions {
  /** Durable Object classes that the Worker exports; each is bound under its own name. */
  objects?: string[];
  /** Further bindings and services, as capnp config; `@/` stands for the test's folder. */
  bindings?: string[];
  services?: string[];
  /** Binds the sandbox Worker as `SANDBOX`: as a service, as without a daemon, or through a socket, like a slot. */
  sandbox?: "service" | "socket";
  /** Binds the real pool with this many slots as `SLOT_POOL`. Its daemon is the Worker's entrypoint `Daemon`. */
  slots?: number;
}

/** Runs one Worker in workerd by itself, without a host around it. */
export async function startBareWorker(
  entry: URL,
  { objects = [], bindings = [], services = [], sandbox, slots }: BareWorkerOptions,
): Promise<BareWorker> {
  const folder = await mkdtemp(join(tmpdir(), "workerd-"));
  await mkdir(join(folder, "objects"));
  await mkdir(join(folder, "blobs"));
  await bundleWorker(entry, join(folder, "code"));
  const modules = await listModules(folder, "code");
  const namespaces = objects.map((name) => `(className = "${name}", uniqueKey = "${name}", enableSql = true)`);
  const allBindings = [...objects.map((name) => `(name = "${name}", durableObjectNamespace = "${name}")`), ...bindings];
  const isolates = sandbox ? await bundleIsolates(folder, sandbox) : { services: [], sockets: [] };
  if (sandbox) allBindings.push(`(name = "SANDBOX", service = "sandbox")`);
  if (slots)
    allBindings.push(
      `(name = "SLOT_POOL", durableObjectNamespace = (className = "SlotPool", serviceName = "slot-pool"))`,
      formatSlotCounts(slots),
    );
  const pool = slots ? [await bundleSlotPool(folder, slots)] : [];
  const port = await findFreePort();
  const config = `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "main", worker = .main),
    (name = "objects", disk = (path = "@/objects", writable = true)),
    ${[...services, ...isolates.services, ...pool].join(",\n    ")}
  ],
  sockets = [
    (name = "http", address = "127.0.0.1:${port}", http = (), service = "main"),
    ${isolates.sockets.join(",\n    ")}
  ],
);
const main :Workerd.Worker = (
  modules = [${modules}],
  compatibilityDate = "2026-10-01",
  durableObjectNamespaces = [${namespaces.join(", ")}],
  durableObjectStorage = (localDisk = "objects"),
  bindings = [${allBindings.join(", ")}],
);
`;
  await writeFile(join(folder, "config.capnp"), config.replaceAll("@/", `${folder}/`));
  const url = `http://127.0.0.1:${port}`;
  const start = async () => {
    const args = ["serve", join(folder, "config.capnp"), ...(sandbox ? ["--experimental"] : [])];
    const child = spawn(findWorkerdBinary(), args, { stdio: ["ignore", "inherit", "inherit"] });
    await waitUntil("workerd to answer", async () => {
      if (child.exitCode !== null) throw new Error("workerd could not start");
      return (await fetch(url).catch(() => undefined)) && true;
    });
    return child;
  };
  let child = await start();
  const kill = async () => {
    const exited = new Promise((resolve) => child.once("exit", resolve));
    child.kill("SIGKILL");
    await exited;
  };
  return {
    url,
    folder,
    get pid() {
      return child.pid ?? 0;
    },
    async restart() {
      await kill();
      child = await start();
    },
    async stop() {
      await kill();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Bundles the Worker that runs untrusted code, and returns its capnp config. */
async function bundleIsolates(
  folder: string,
  binding: "service" | "socket",
): Promise<{ services: string[]; sockets: string[] }> {
  await bundleWorker(
    new URL("../../packages/runtime/src/sandbox/process.ts", import.meta.url),
    join(folder, "sandbox"),
  );
  const modules = await listModules(folder, "sandbox");
  const worker = `(modules = [${modules}], compatibilityDate = "2026-10-01", bindings = [(name = "LOADER", workerLoader = (id = "runs"))])`;
  if (binding === "service") return { services: [`(name = "sandbox", worker = ${worker})`], sockets: [] };
  const socketAddress = `address = "unix:@/sandbox.sock", http = (capnpConnectHost = "sandbox")`;
  return {
    services: [`(name = "isolates", worker = ${worker})`, `(name = "sandbox", external = (${socketAddress}))`],
    sockets: [`(name = "rpc", ${socketAddress}, service = "isolates")`],
  };
}

const formatSlotCounts = (runs: number) => `(name = "SLOT_COUNTS", json = "{\\"runs\\":${runs},\\"agents\\":0}")`;

/** Bundles the slot pool, and returns its config as the daemon would write it. */
async function bundleSlotPool(folder: string, count: number): Promise<string> {
  await bundleWorker(
    new URL("../../packages/runtime/src/sandbox/slot-pool.ts", import.meta.url),
    join(folder, "slot-pool"),
  );
  return `(name = "slot-pool", worker = (
      modules = [${await listModules(folder, "slot-pool")}],
      compatibilityDate = "2026-10-01",
      durableObjectNamespaces = [(className = "SlotPool", uniqueKey = "slot-pool", preventEviction = true)],
      durableObjectStorage = (inMemory = void),
      bindings = [
        (name = "HOST", service = (name = "main", entrypoint = "Daemon")),
        ${formatSlotCounts(count)},
        (name = "SANDBOX_LIMITS", json = "{\\"runs\\":250,\\"memoryMb\\":128}"),
      ],
    ))`;
}

/** Lists the modules of a bundle, the entry first. */
async function listModules(folder: string, code: string): Promise<string> {
  const names = (await readdir(join(folder, code))).sort((a, b) => Number(b === "main.js") - Number(a === "main.js"));
  return names.map((name) => `(name = "${name}", esModule = embed "${code}/${name}")`).join(", ");
}

export async function findFreePort(): Promise<number> {
  const server = net.createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as net.AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
