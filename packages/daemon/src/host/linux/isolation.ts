import { lstatSync, readlinkSync } from "node:fs";
import { givenFd } from "../process.ts";

/** Everything that a command is walled in with: what it sees of the machine, what it may take, and who it is. */
export interface CommandIsolation {
  programs: Programs;
  /** The agent's own, which it finds as /work. */
  folder: string;
  /** Where the files lie that it finds in /etc in place of the machine's own. */
  etc: string;
  /** Folders that must not be seen, should they lie in a place that can be. */
  hidden: readonly string[];
  network: boolean;
  limits: { memoryBytes: number; fileBytes: number; cpuSeconds: number; processes: number | undefined };
}

/** By their paths. */
export interface Programs {
  bwrap: string;
  /** What this bubblewrap can do; older ones lack some of it. */
  options: ReadonlySet<string>;
  prlimit: string;
  setsid: string;
  shell: string;
  nice: string | undefined;
  /** Needed where we are root: a command must not be, not even behind walls. */
  setpriv: string | undefined;
}

interface CommandLine {
  command: string;
  args: string[];
  given: string[];
}

/** Where programs are looked for, inside and, for our own, outside. */
export const programPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/** Who a command is where the daemon is root: nobody, by number. */
export const nobody = 65_534;

// What programs need to work. Nothing with a secret in it: neither shadow nor private keys.
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

/** What is only of use with a network. */
const networkFiles = ["gai.conf", "host.conf", "hosts", "resolv.conf"];

/** What a command finds there in place of the machine's own: no names of the people who use it. */
export const etcFiles: Readonly<Record<string, string>> = {
  passwd:
    "root:x:0:0:root:/root:/usr/sbin/nologin\nsandbox:x:1000:1000:sandbox:/work:/bin/sh\nnobody:x:65534:65534:nobody:/:/usr/sbin/nologin\n",
  group: "root:x:0:\nsandbox:x:1000:\nnogroup:x:65534:\n",
  hosts: "127.0.0.1 localhost sandbox\n::1 localhost\n",
};

/** Read-only, where there are such folders. */
const roots = ["/usr", "/opt"];
/** Part of /usr on most machines, and then links. */
const linkedRoots = ["/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"];

const memoryFolders = { "/tmp": 512 * 1024 * 1024, "/dev/shm": 64 * 1024 * 1024 };

/** The command line that runs a shell's command behind walls. */
export function isolateCommand(walls: CommandIsolation, command: string): CommandLine {
  const { programs, folder, etc } = walls;
  // In a session of its own: what it signals to all of its group is not for us.
  const limited = [programs.setsid, ...toLimitCommand(walls), programs.shell, "-c", command];
  const wrapCommand = (given: number) => [
    "/bin/sh",
    "-c",
    pipeScript,
    programs.bwrap,
    "--args",
    String(given),
    "--",
    ...limited,
  ];
  if (!programs.setpriv) {
    const [first, ...args] = wrapCommand(givenFd) as [string, ...string[]];
    return { command: first, args, given: [encodeOptions(toMountOptions(walls, folder, etc))] };
  }
  // Root first brings the folder to where nobody can reach it, becomes nobody, and puts up the walls as nobody.
  const reach = [
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
  const less = ["--die-with-parent", "--cap-drop", "ALL", "--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"];
  const become = [programs.setpriv, "--reuid", String(nobody), "--regid", String(nobody), "--clear-groups", "--"];
  return {
    command: programs.bwrap,
    args: ["--args", String(givenFd), "--", ...become, ...wrapCommand(givenFd + 1)],
    given: [encodeOptions([...reach, ...less]), encodeOptions(toMountOptions(walls, "/tmp/work", "/tmp/etc"))],
  };
}

// What Node hands to a child is a socket, which /dev/stdout cannot be opened on; a pipe is what programs expect. It
// ends when the last that could write to it has, so nothing is alive behind the walls when this does.
const pipeScript = [
  "exec 8>&1",
  'code=$( { { "$0" "$@" 2>&1 3>&- 8>&-; echo $? >&3; } | cat >&8 3>&-; } 3>&1 )',
  'exit "$code"',
].join("\n");

/**
 * What is seen of the machine. The first process in there stays in our process group, so that it is killed with it, and
 * everything behind the walls with that one: one that has just been started does not know yet whom it is to die with.
 */
function toMountOptions(
  { programs: { options }, hidden, network }: CommandIsolation,
  folder: string,
  etc: string,
): string[] {
  const tmpfs = (path: keyof typeof memoryFolders) =>
    options.has("--size") ? ["--size", String(memoryFolders[path]), "--tmpfs", path] : ["--tmpfs", path];
  const fromMachine = [...machineFiles, ...(network ? networkFiles : [])];
  const own = Object.keys(etcFiles).filter((name) => !fromMachine.includes(name));
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
    own.flatMap((name) => ["--ro-bind", `${etc}/${name}`, `/etc/${name}`]),
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
    // Not the address space, of which many programs reserve far more than they use.
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
  // A host that keeps its data in /usr itself has other troubles.
  return roots.some((root) => path.startsWith(`${root}/`) || (path === root && root !== "/usr"));
}

/** Without those that are covered by another. */
function keepOutermost(paths: string[]): string[] {
  return [...new Set(paths)].filter((path) => !paths.some((other) => path.startsWith(`${other}/`)));
}

/** As bubblewrap reads its options from a descriptor. */
function encodeOptions(options: string[]): string {
  return options.map((option) => `${option}\0`).join("");
}
