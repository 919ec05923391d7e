import { lstatSync, readlinkSync } from "node:fs";
import { nobody } from "../isolation.ts";
import { firstInputFd, type Input } from "../process.ts";
import { createSeccompFilter } from "../seccomp.ts";

/** How a command is isolated: what it sees of the machine, its limits and its user. */
export interface CommandIsolation {
  programs: Programs;
  /** The agent's own folder, mounted as /work. */
  folder: string;
  /** Folder with the files that replace the machine's own in /etc. */
  etc: string;
  /** Folders that must not be visible, even if they are inside a visible one. */
  hidden: readonly string[];
  network: boolean;
  limits: { memoryBytes: number; fileBytes: number; cpuSeconds: number; processes: number | undefined };
}

/** Paths of the programs in use. */
export interface Programs {
  bwrap: string;
  /** Options this version of bubblewrap supports. */
  options: ReadonlySet<string>;
  prlimit: string;
  setsid: string;
  shell: string;
  nice: string | undefined;
  /** Required if we are root: a command must not be root, even when isolated. */
  setpriv: string | undefined;
}

interface CommandLine {
  command: string;
  args: string[];
  inputs: Input[];
}

/** The PATH inside the sandbox, and for finding our own programs. */
export const programPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

// Files in /etc that programs need. None of them contains secrets such as password hashes or private keys.
const machineFiles = [
  "alternatives",
  "ca-certificates",
  "ca-certificates.conf",
  "crypto-policies",
  "debian_version",
  "fonts",
  "ImageMagick-6",
  "ImageMagick-7",
  "ld.so.cache",
  "ld.so.conf",
  "ld.so.conf.d",
  "localtime",
  "lsb-release",
  "magic",
  "mime.types",
  "nsswitch.conf",
  "os-release",
  "papersize",
  "perl",
  "pki/ca-trust/extracted",
  "pki/tls/cert.pem",
  "pki/tls/certs",
  "pki/tls/openssl.cnf",
  "protocols",
  "services",
  "ssl/cert.pem",
  "ssl/certs",
  "ssl/openssl.cnf",
  "terminfo",
  "texmf",
  "timezone",
];

/** Files in /etc that are needed only with a network. */
const networkFiles = ["gai.conf", "host.conf", "hosts", "resolv.conf"];

/** Files that replace those in /etc, so that the names of the machine's users stay hidden. */
export const etcFiles: Readonly<Record<string, string>> = {
  passwd:
    "root:x:0:0:root:/root:/usr/sbin/nologin\nsandbox:x:1000:1000:sandbox:/work:/bin/sh\nnobody:x:65534:65534:nobody:/:/usr/sbin/nologin\n",
  group: "root:x:0:\nsandbox:x:1000:\nnogroup:x:65534:\n",
  hosts: "127.0.0.1 localhost sandbox\n::1 localhost\n",
};

/** Mounted read-only if they exist. */
const roots = ["/usr", "/opt"];
/** On most machines links into /usr. */
const linkedRoots = ["/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"];

const memoryFolders = { "/tmp": 512 * 1024 * 1024, "/dev/shm": 64 * 1024 * 1024 };

/** Returns the command line that runs an isolated shell command. */
export function isolateCommand(isolation: CommandIsolation, command: string): CommandLine {
  const { programs, folder, etc } = isolation;
  // In its own session, so that signals to its process group do not reach us.
  const limited = [programs.setsid, ...toLimitCommand(isolation), programs.shell, "-c", command];
  const wrapCommand = (optionsFd: number) => [
    "/bin/sh",
    "-c",
    pipeScript,
    programs.bwrap,
    "--args",
    String(optionsFd),
    "--",
    ...limited,
  ];
  if (!programs.setpriv) {
    const [first, ...args] = wrapCommand(firstInputFd) as [string, ...string[]];
    return { command: first, args, inputs: createInputs(firstInputFd, toMountOptions(isolation, folder, etc)) };
  }
  // As root: mount the folders where the user `nobody` can reach them, switch to that user, and isolate the command as
  // it.
  const mounts = [
    "--dev-bind",
    "/",
    "/",
    "--tmpfs",
    "/tmp",
    "--bind",
    folder,
    "/tmp/work",
    "--ro-bind",
    etc,
    "/tmp/etc",
  ];
  const capabilities = ["--die-with-parent", "--cap-drop", "ALL", "--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"];
  const switchUser = [programs.setpriv, "--reuid", String(nobody), "--regid", String(nobody), "--clear-groups", "--"];
  return {
    command: programs.bwrap,
    args: ["--args", String(firstInputFd), "--", ...switchUser, ...wrapCommand(firstInputFd + 1)],
    inputs: [
      encodeOptions([...mounts, ...capabilities]),
      ...createInputs(firstInputFd + 1, toMountOptions(isolation, "/tmp/work", "/tmp/etc")),
    ],
  };
}

/**
 * Returns bubblewrap's options, to be read from `optionsFd`, and the filter of system calls for the next descriptor.
 */
function createInputs(optionsFd: number, options: string[]): Input[] {
  const filter = createSeccompFilter();
  if (!filter) return [encodeOptions(options)];
  return [encodeOptions(["--seccomp", String(optionsFd + 1), ...options]), filter];
}

// Node passes a socket as stdout, on which /dev/stdout cannot be opened; programs expect a pipe. The pipe ends when its
// last writer has, so nothing in the sandbox is alive when this script ends.
const pipeScript = [
  "exec 8>&1",
  'code=$( { { "$0" "$@" 2>&1 3>&- 8>&-; echo $? >&3; } | cat >&8 3>&-; } 3>&1 )',
  'exit "$code"',
].join("\n");

/**
 * Options for what is visible of the machine. The first process inside stays in our process group, so that it is killed
 * with the group and everything inside with it; --die-with-parent takes effect only some time after the start.
 */
function toMountOptions(
  { programs: { options }, hidden, network }: CommandIsolation,
  folder: string,
  etc: string,
): string[] {
  const tmpfs = (path: keyof typeof memoryFolders) =>
    options.has("--size") ? ["--size", String(memoryFolders[path]), "--tmpfs", path] : ["--tmpfs", path];
  const fromMachine = [...machineFiles, ...(network ? networkFiles : [])];
  const replaced = Object.keys(etcFiles).filter((name) => !fromMachine.includes(name));
  return [
    [
      "--unshare-all",
      ...(network ? ["--share-net"] : []),
      "--unshare-user",
      ...(options.has("--disable-userns") ? ["--disable-userns"] : []),
    ],
    ["--die-with-parent", "--cap-drop", "ALL", "--hostname", "sandbox", "--uid", "1000", "--gid", "1000"],
    ["--clearenv", ...toEnvironmentOptions()],
    roots.flatMap((root) => ["--ro-bind-try", root, root]),
    linkedRoots.flatMap(bindOrLink),
    fromMachine.flatMap((name) => ["--ro-bind-try", `/etc/${name}`, `/etc/${name}`]),
    replaced.flatMap((name) => ["--ro-bind", `${etc}/${name}`, `/etc/${name}`]),
    keepOutermost(hidden.filter(isVisible)).flatMap((path) => ["--tmpfs", path, "--remount-ro", path]),
    ["--proc", "/proc", "--dev", "/dev", ...tmpfs("/dev/shm"), "--remount-ro", "/dev"],
    [...tmpfs("/tmp"), "--symlink", "../tmp", "/var/tmp", "--dir", "/run"],
    ["--bind", folder, "/work", "--chdir", "/work", "--remount-ro", "/"],
  ].flat();
}

function toEnvironmentOptions(): string[] {
  const variables = {
    HOME: "/work",
    LANG: "C.UTF-8",
    LOGNAME: "sandbox",
    PATH: programPath,
    TERM: "dumb",
    TMPDIR: "/tmp",
    USER: "sandbox",
  };
  return Object.entries(variables).flatMap(([name, value]) => ["--setenv", name, value]);
}

function toLimitCommand({
  programs,
  limits: { memoryBytes, fileBytes, cpuSeconds, processes },
}: CommandIsolation): string[] {
  return [
    ...(programs.nice ? [programs.nice, "-n", "10"] : []),
    programs.prlimit,
    // Limits data and not address space, because many programs reserve far more address space than they use.
    `--data=${memoryBytes}`,
    `--fsize=${fileBytes}`,
    `--cpu=${cpuSeconds}`,
    "--core=0",
    "--nofile=1024:4096",
    ...(processes === undefined ? [] : [`--nproc=${processes}`]),
    "--",
  ];
}

function bindOrLink(path: string): string[] {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found?.isSymbolicLink()) return ["--symlink", readlinkSync(path), path];
  return found ? ["--ro-bind", path, path] : [];
}

function isVisible(path: string): boolean {
  // /usr itself cannot be hidden, because programs need it.
  return roots.some((root) => path.startsWith(`${root}/`) || (path === root && root !== "/usr"));
}

/** Drops paths inside other paths of the list. */
function keepOutermost(paths: string[]): string[] {
  return [...new Set(paths)].filter((path) => !paths.some((other) => path.startsWith(`${other}/`)));
}

/** Encodes options as bubblewrap reads them from a descriptor. */
function encodeOptions(options: string[]): string {
  return options.map((option) => `${option}\0`).join("");
}
