import type {
  Boot,
  LinuxLimits,
  ModelConfig,
  SandboxLimits,
  TurnLimits,
  WorkspaceLimits,
} from "@thinkery/sdk/internal";

/** The text of workerd's configuration. Nothing here touches the disk. */

export interface Module {
  name: string;
  /** Absolute; workerd reads it by itself. */
  path: string;
}

export interface MainConfig {
  host: string;
  port: number;
  /** The entry comes first. */
  modules: Module[];
  /** Of the Worker that lends the slots. */
  slotPool: Module[];
  objects: string;
  blobs: string;
  page: string;
  /** Where the daemon talks to main. */
  mainSocket: string;
  hostSocket: string;
  hostKey: string;
  sandboxSockets: string[];
  version: string;
  adminTokenHash: string;
  startedAt: string;
  allowedHosts: string[];
  allowedOrigins: string[];
  /** Origins of this machine or its network that tools may call. */
  toolOrigins: string[];
  providers: string[];
  /** Environment variables of this process that main finds under their own names: keys and addresses of models. */
  variables: string[];
  models: ModelConfig;
  turn: TurnLimits;
  sandbox: SandboxLimits;
  linux: LinuxLimits;
  workspace: WorkspaceLimits;
  boot: Boot;
}

interface SandboxConfig {
  socket: string;
  modules: Module[];
  /** Of the JavaScript heap. */
  memoryMb: number;
}

/** The environment variable in which main finds the key; a config file would keep it on the disk. */
export const signingKeyVariable = "THINKERY_SIGNING_KEY";

const compatibilityDate = "2026-10-01";

export function mainConfig(config: MainConfig): string {
  const classes = ["Think", "Agency", "User"];
  const slots = config.sandboxSockets.map((socket, index) => ({ socket, service: `sandbox-${index}`, binding: `SANDBOX_${index}` }));
  const key = `(name = "x-thinkery-host-key", value = ${text(config.hostKey)})`;
  const services = [
    `(name = "main", worker = .main)`,
    `(name = "internet", network = (allow = ["public"], tlsOptions = (trustBrowserCas = true)))`,
    // For the door to models only: local servers of models live on loopback, which nothing else in main may reach.
    `(name = "models", network = (allow = ["public", "private", "local"], tlsOptions = (trustBrowserCas = true)))`,
    `(name = "objects", disk = (path = ${text(config.objects)}, writable = true))`,
    `(name = "blobs", disk = (path = ${text(config.blobs)}, writable = true))`,
    `(name = "page", disk = (path = ${text(config.page)}))`,
    `(name = "host", external = (address = ${text(`unix:${config.hostSocket}`)}, http = (injectRequestHeaders = [${key}])))`,
    ...slots.map(
      ({ service, socket }) =>
        `(name = "${service}", external = (address = ${text(`unix:${socket}`)}, http = (capnpConnectHost = "sandbox")))`,
    ),
    ...(slots.length > 0 ? [`(name = "slot-pool", worker = .slotPool)`] : []),
  ];
  const bindings = [
    ...classes.map((name) => `(name = "${name}", durableObjectNamespace = "${name}")`),
    `(name = "BLOBS", service = "blobs")`,
    `(name = "ASSETS", service = "page")`,
    `(name = "HOST", service = "host")`,
    ...slots.map(({ binding, service }) => `(name = "${binding}", service = "${service}")`),
    ...(slots.length > 0 ? [`(name = "SLOT_POOL", durableObjectNamespace = (className = "SlotPool", serviceName = "slot-pool"))`] : []),
    `(name = "VERSION", text = ${text(config.version)})`,
    `(name = "ADMIN_TOKEN_HASH", text = ${text(config.adminTokenHash)})`,
    `(name = "COOKIE_NAME", text = ${text(`thinkery-${config.port}`)})`,
    `(name = "STARTED_AT", text = ${text(config.startedAt)})`,
    `(name = "ALLOWED_HOSTS", json = ${json(config.allowedHosts)})`,
    `(name = "ALLOWED_ORIGINS", json = ${json(config.allowedOrigins)})`,
    `(name = "TOOL_ORIGINS", json = ${json(config.toolOrigins)})`,
    `(name = "PROVIDERS", json = ${json(config.providers)})`,
    `(name = "MODELS", service = "models")`,
    `(name = "MODEL_CONFIG", json = ${json(config.models)})`,
    `(name = "TURN_LIMITS", json = ${json(config.turn)})`,
    `(name = "SANDBOX_LIMITS", json = ${json(config.sandbox)})`,
    `(name = "LINUX_LIMITS", json = ${json(config.linux)})`,
    `(name = "WORKSPACE_LIMITS", json = ${json(config.workspace)})`,
    `(name = "BOOT", json = ${json(config.boot)})`,
    // From the environment, like the signing key: the configuration stays on the disk.
    ...config.variables.map((name) => `(name = ${text(name)}, fromEnvironment = ${text(name)})`),
    `(name = "SIGNING_KEY", fromEnvironment = "${signingKeyVariable}")`,
  ];
  const sockets = [
    `(name = "http", address = ${text(address(config.host, config.port))}, http = (), service = "main")`,
    `(name = "supervision", address = ${text(`unix:${config.mainSocket}`)}, http = (), service = (name = "main", entrypoint = "Supervision"))`,
  ];
  const objects = classes.map(
    (name) => `(className = "${name}", uniqueKey = "${name.toLowerCase()}", enableSql = true)`,
  );
  return `using Workerd = import "/workerd/workerd.capnp";

const config :Workerd.Config = (
  services = ${list(services)},
  sockets = ${list(sockets)},
);

const main :Workerd.Worker = (
  modules = ${list(config.modules.map(module))},
  compatibilityDate = "${compatibilityDate}",
  globalOutbound = "internet",
  durableObjectNamespaces = ${list(objects)},
  durableObjectStorage = (localDisk = "objects"),
  bindings = ${list(bindings)},
);
${slots.length > 0 ? slotPool(config) : ""}`;
}

/**
 * The Worker that lends the slots. It is apart from main's: that one may be the user's own, and its objects may live in
 * different isolates. It remembers whose code is in which process, so it must never be evicted.
 */
function slotPool({ slotPool, sandboxSockets, sandbox }: MainConfig): string {
  return `
const slotPool :Workerd.Worker = (
  modules = ${list(slotPool.map(module))},
  compatibilityDate = "${compatibilityDate}",
  durableObjectNamespaces = [ (className = "SlotPool", uniqueKey = "slot-pool", preventEviction = true) ],
  durableObjectStorage = (inMemory = void),
  bindings = [
    (name = "HOST", service = "host"),
    (name = "SLOT_COUNT", json = ${json(sandboxSockets.length)}),
    (name = "SANDBOX_LIMITS", json = ${json(sandbox)}),
  ],
);
`;
}

/** A slot for untrusted code: no network, little memory, reachable only through its socket. */
export function sandboxConfig(config: SandboxConfig): string {
  return `using Workerd = import "/workerd/workerd.capnp";

const config :Workerd.Config = (
  v8Flags = ["--max-old-space-size=${config.memoryMb}"],
  services = [ (name = "sandbox", worker = .sandbox), (name = "internet", network = (allow = [])) ],
  sockets = [ (name = "rpc", address = ${text(`unix:${config.socket}`)}, http = (capnpConnectHost = "sandbox"), service = "sandbox") ],
);

const sandbox :Workerd.Worker = (
  modules = ${list(config.modules.map(module))},
  compatibilityDate = "${compatibilityDate}",
  bindings = [ (name = "LOADER", workerLoader = (id = "runs")) ],
);
`;
}

function module({ name, path }: Module): string {
  return `(name = ${text(name)}, esModule = embed ${text(path)})`;
}

function address(host: string, port: number): string {
  return host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;
}

function json(value: unknown): string {
  return text(JSON.stringify(value));
}

function list(items: string[]): string {
  return items.length === 0 ? "[]" : `[\n    ${items.join(",\n    ")},\n  ]`;
}

/** A Cap'n Proto string: quotes, backslashes and control characters are written so that none can end it. */
export function text(value: string): string {
  const escaped = Array.from(value, (char) => {
    if (char === '"' || char === "\\") return `\\${char}`;
    const control = char < " " || char === "\x7f";
    return control ? `\\x${char.charCodeAt(0).toString(16).padStart(2, "0")}` : char;
  });
  return `"${escaped.join("")}"`;
}
