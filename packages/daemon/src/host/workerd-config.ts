import type { PolicyRule } from "@thinkery/sdk";
import type {
  Boot,
  LinuxLimits,
  ModelConfig,
  SandboxLimits,
  SubagentLimits,
  TurnLimits,
  WorkspaceLimits,
} from "@thinkery/sdk/internal";

/** A module of a Worker, as listed in workerd's configuration. */
export interface Module {
  name: string;
  /** Absolute; workerd reads the file itself. */
  path: string;
}

export interface MainConfig {
  host: string;
  port: number;
  /** The entry comes first. */
  modules: Module[];
  /** Modules of the Worker that leases the slots. */
  slotPool: Module[];
  /** Modules of the Worker that knows who needs which blob. */
  blobIndex: Module[];
  objects: string;
  blobs: string;
  page: string;
  /** Socket on which the daemon reaches main. */
  mainSocket: string;
  hostSocket: string;
  hostKey: string;
  sandboxSockets: string[];
  /** How many of them, the last ones, are for user agents. */
  agentSlots: number;
  version: string;
  adminTokenHash: string;
  startedAt: string;
  allowedHosts: string[];
  allowedOrigins: string[];
  /** Origins on this machine or its network that tools may call. */
  toolOrigins: string[];
  providers: string[];
  /** Environment variables passed to main under the same name: API keys and base URLs of models. */
  variables: string[];
  models: ModelConfig;
  turn: TurnLimits;
  policy: PolicyRule[];
  subagents: SubagentLimits;
  sandbox: SandboxLimits;
  linux: LinuxLimits;
  workspace: WorkspaceLimits;
  boot: Boot;
}

interface SandboxConfig {
  socket: string;
  modules: Module[];
  /** Maximum size of the JavaScript heap. */
  memoryMb: number;
}

/** Environment variable that holds the signing key for main. A config file would leave it on disk. */
export const signingKeyVariable = "THINKERY_SIGNING_KEY";

/** The same for the admin token, which main only needs in order to redact it. */
export const adminTokenVariable = "THINKERY_ADMIN_TOKEN";

const compatibilityDate = "2026-10-01";

/** Formats workerd's configuration for main. */
export function formatMainConfig(config: MainConfig): string {
  const classes = ["Think", "Agency", "User"];
  const slots = config.sandboxSockets.map((socket, index) => ({
    socket,
    service: `sandbox-${index}`,
    binding: `SANDBOX_${index}`,
  }));
  const key = `(name = "x-thinkery-host-key", value = ${formatText(config.hostKey)})`;
  const services = [
    `(name = "main", worker = .main)`,
    `(name = "internet", network = (allow = ["public"], tlsOptions = (trustBrowserCas = true)))`,
    // Only for calls to models: local model servers listen on loopback, which nothing else in main may reach.
    `(name = "models", network = (allow = ["public", "private", "local"], tlsOptions = (trustBrowserCas = true)))`,
    `(name = "objects", disk = (path = ${formatText(config.objects)}, writable = true))`,
    // Dotfiles: what interrupted writes leave there.
    `(name = "blobs", disk = (path = ${formatText(config.blobs)}, writable = true, allowDotfiles = true))`,
    `(name = "blob-index", worker = .blobIndex)`,
    `(name = "page", disk = (path = ${formatText(config.page)}))`,
    `(name = "host", external = (address = ${formatText(`unix:${config.hostSocket}`)}, http = (injectRequestHeaders = [${key}])))`,
    ...slots.map(
      ({ service, socket }) =>
        `(name = "${service}", external = (address = ${formatText(`unix:${socket}`)}, http = (capnpConnectHost = "sandbox")))`,
    ),
    ...(slots.length > 0 ? [`(name = "slot-pool", worker = .slotPool)`] : []),
  ];
  const bindings = [
    ...classes.map((name) => `(name = "${name}", durableObjectNamespace = "${name}")`),
    `(name = "BLOBS", service = "blobs")`,
    `(name = "BLOB_INDEX", durableObjectNamespace = (className = "BlobIndex", serviceName = "blob-index"))`,
    `(name = "ASSETS", service = "page")`,
    `(name = "HOST", service = "host")`,
    ...slots.map(({ binding, service }) => `(name = "${binding}", service = "${service}")`),
    ...(slots.length > 0
      ? [
          `(name = "SLOT_POOL", durableObjectNamespace = (className = "SlotPool", serviceName = "slot-pool"))`,
          `(name = "SLOT_COUNTS", json = ${formatJson(countSlots(config))})`,
        ]
      : []),
    `(name = "VERSION", text = ${formatText(config.version)})`,
    `(name = "ADMIN_TOKEN_HASH", text = ${formatText(config.adminTokenHash)})`,
    `(name = "COOKIE_NAME", text = ${formatText(`thinkery-${config.port}`)})`,
    `(name = "STARTED_AT", text = ${formatText(config.startedAt)})`,
    `(name = "ALLOWED_HOSTS", json = ${formatJson(config.allowedHosts)})`,
    `(name = "ALLOWED_ORIGINS", json = ${formatJson(config.allowedOrigins)})`,
    `(name = "TOOL_ORIGINS", json = ${formatJson(config.toolOrigins)})`,
    `(name = "PROVIDERS", json = ${formatJson(config.providers)})`,
    `(name = "MODELS", service = "models")`,
    `(name = "MODEL_CONFIG", json = ${formatJson(config.models)})`,
    `(name = "TURN_LIMITS", json = ${formatJson(config.turn)})`,
    `(name = "SUBAGENT_LIMITS", json = ${formatJson(config.subagents)})`,
    `(name = "POLICY", json = ${formatJson(config.policy)})`,
    `(name = "SANDBOX_LIMITS", json = ${formatJson(config.sandbox)})`,
    `(name = "LINUX_LIMITS", json = ${formatJson(config.linux)})`,
    `(name = "WORKSPACE_LIMITS", json = ${formatJson(config.workspace)})`,
    `(name = "BOOT", json = ${formatJson(config.boot)})`,
    // From the environment, like the signing key, because the configuration stays on disk.
    ...config.variables.map((name) => `(name = ${formatText(name)}, fromEnvironment = ${formatText(name)})`),
    `(name = "SIGNING_KEY", fromEnvironment = "${signingKeyVariable}")`,
    `(name = "ADMIN_TOKEN", fromEnvironment = "${adminTokenVariable}")`,
  ];
  const sockets = [
    `(name = "http", address = ${formatText(formatAddress(config.host, config.port))}, http = (), service = "main")`,
    `(name = "supervision", address = ${formatText(`unix:${config.mainSocket}`)}, http = (), service = (name = "main", entrypoint = "Supervision"))`,
  ];
  const objects = classes.map(
    (name) => `(className = "${name}", uniqueKey = "${name.toLowerCase()}", enableSql = true)`,
  );
  return `using Workerd = import "/workerd/workerd.capnp";

const config :Workerd.Config = (
  services = ${formatList(services)},
  sockets = ${formatList(sockets)},
);

const main :Workerd.Worker = (
  modules = ${formatList(config.modules.map(formatModule))},
  compatibilityDate = "${compatibilityDate}",
  globalOutbound = "internet",
  durableObjectNamespaces = ${formatList(objects)},
  durableObjectStorage = (localDisk = "objects"),
  bindings = ${formatList(bindings)},
);
${formatBlobIndex(config)}${slots.length > 0 ? formatSlotPool(config) : ""}`;
}

const countSlots = ({ sandboxSockets, agentSlots }: Pick<MainConfig, "sandboxSockets" | "agentSlots">) => ({
  runs: sandboxSockets.length - agentSlots,
  agents: agentSlots,
});

/** The Worker with the index of blobs. It is separate so that custom Workers need not export the index. */
function formatBlobIndex({ blobIndex }: MainConfig): string {
  return `
const blobIndex :Workerd.Worker = (
  modules = ${formatList(blobIndex.map(formatModule))},
  compatibilityDate = "${compatibilityDate}",
  durableObjectNamespaces = [ (className = "BlobIndex", uniqueKey = "blob-index", enableSql = true) ],
  durableObjectStorage = (localDisk = "objects"),
  bindings = [
    (name = "BLOBS", service = "blobs"),
    (name = "OBJECTS", service = "objects"),
  ],
);
`;
}

/**
 * The Worker that leases the slots. It is separate from main's Worker, which may be a custom one whose objects may live
 * in different isolates. It remembers whose code runs in which process, so it must never be evicted.
 */
function formatSlotPool({ slotPool, sandboxSockets, agentSlots, sandbox }: MainConfig): string {
  return `
const slotPool :Workerd.Worker = (
  modules = ${formatList(slotPool.map(formatModule))},
  compatibilityDate = "${compatibilityDate}",
  durableObjectNamespaces = [ (className = "SlotPool", uniqueKey = "slot-pool", preventEviction = true) ],
  durableObjectStorage = (inMemory = void),
  bindings = [
    (name = "HOST", service = "host"),
    (name = "SLOT_COUNTS", json = ${formatJson(countSlots({ sandboxSockets, agentSlots }))}),
    (name = "SANDBOX_LIMITS", json = ${formatJson(sandbox)}),
  ],
);
`;
}

/** Formats workerd's configuration for untrusted code: no network, little memory, reachable only through its socket. */
export function formatSandboxConfig(config: SandboxConfig): string {
  return `using Workerd = import "/workerd/workerd.capnp";

const config :Workerd.Config = (
  v8Flags = ["--max-old-space-size=${config.memoryMb}"],
  services = [ (name = "sandbox", worker = .sandbox), (name = "internet", network = (allow = [])) ],
  sockets = [ (name = "rpc", address = ${formatText(`unix:${config.socket}`)}, http = (capnpConnectHost = "sandbox"), service = "sandbox") ],
);

const sandbox :Workerd.Worker = (
  modules = ${formatList(config.modules.map(formatModule))},
  compatibilityDate = "${compatibilityDate}",
  bindings = [ (name = "LOADER", workerLoader = (id = "runs")) ],
);
`;
}

function formatModule({ name, path }: Module): string {
  return `(name = ${formatText(name)}, esModule = embed ${formatText(path)})`;
}

function formatAddress(host: string, port: number): string {
  return host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;
}

function formatJson(value: unknown): string {
  return formatText(JSON.stringify(value));
}

function formatList(items: string[]): string {
  return items.length === 0 ? "[]" : `[\n    ${items.join(",\n    ")},\n  ]`;
}

/** Formats a Cap'n Proto string; escapes quotes, backslashes and control characters so that none can end it. */
export function formatText(value: string): string {
  const escaped = Array.from(value, (char) => {
    if (char === '"' || char === "\\") return `\\${char}`;
    const isControl = char < " " || char === "\x7f";
    return isControl ? `\\x${char.charCodeAt(0).toString(16).padStart(2, "0")}` : char;
  });
  return `"${escaped.join("")}"`;
}
