import { randomBytes } from "node:crypto";
import { existsSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { forbiddenCalls, unavailableCalls } from "../seccomp.ts";
import { findSandboxIssue, openSandbox } from "./fixture.ts";

const issue = await findSandboxIssue();
const index = process.arch === "arm64" ? 1 : 0;
const killedBySigsys = -31;

beforeEach((context) => {
  if (issue) context.skip(`This needs a Linux sandbox. ${issue}`);
});

// Prints the name of each call's error or "ok", and how a process ended that made calls of another architecture.
const probeScript = `
import ctypes, errno, json, mmap, os, sys
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
def call(number, *args):
    result = libc.syscall(ctypes.c_long(number), *[ctypes.c_long(arg) for arg in args])
    return errno.errorcode[ctypes.get_errno()] if result == -1 else "ok"
def call_in_child(number, args):
    read, write = os.pipe()
    if os.fork() == 0:
        os.write(write, call(number, *args).encode())
        os._exit(0)
    os.wait()
    return os.read(read, 100).decode()
def call_i386():
    code = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    code.write(bytes.fromhex("b814000000cd80c3"))
    ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(code)))()
def get_end(work):
    pid = os.fork()
    if pid == 0:
        work()
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
found = {name: call_in_child(*call) for name, call in json.loads(sys.argv[1]).items()}
if os.uname().machine == "x86_64":
    found["i386"] = get_end(call_i386)
    found["x32"] = get_end(lambda: call(0x40000000 + 39))
print(json.dumps(found))
`;

/** Arguments with which a call succeeds if there is no filter. */
const workingArgs: Record<string, number[]> = {
  keyctl: [0, -3, 0],
  ptrace: [0, 0, 0, 0],
  unshare: [0],
  userfaultfd: [1],
};

test("a command cannot make the forbidden system calls", async (context) => {
  const { home, run, output } = await openSandbox();
  if ((await run("/usr/bin/python3 -c 'import ctypes'")).exitCode !== 0)
    return context.skip("This needs /usr/bin/python3 with ctypes.");
  const socket = index === 0 ? 41 : 198;
  const calls = Object.fromEntries([
    ...Object.entries({ ...forbiddenCalls, ...unavailableCalls }).map(
      ([name, numbers]) => [name, [numbers[index], workingArgs[name] ?? [0, 0, 0, 0, 0, 0]]] as const,
    ),
    ["vsock", [socket, [40, 1, 0]]],
    ["alg", [socket, [38, 5, 0]]],
    ["netlinkGeneric", [socket, [16, 3, 16]]],
    ["netlinkRoute", [socket, [16, 3, 0]]],
    ["unix", [socket, [1, 1, 0]]],
  ]);
  writeFileSync(join(home.path, "linux/global/alice/probe.py"), probeScript, { mode: 0o644 });
  expect(JSON.parse(await output(`/usr/bin/python3 probe.py '${JSON.stringify(calls)}'`))).toEqual({
    ...Object.fromEntries(Object.keys(forbiddenCalls).map((name) => [name, "EPERM"])),
    ...Object.fromEntries(Object.keys(unavailableCalls).map((name) => [name, "ENOSYS"])),
    vsock: "EPERM",
    alg: "EPERM",
    netlinkGeneric: "EPERM",
    netlinkRoute: "ok",
    unix: "ok",
    ...(index === 0 ? { i386: killedBySigsys, x32: killedBySigsys } : {}),
  });
});

const pythonProgram = [
  "import subprocess, threading",
  "thread = threading.Thread(target=print, args=(1,))",
  "thread.start()",
  "thread.join()",
  'print(subprocess.check_output(["echo", "2"]).decode())',
].join("\n");

const nodeProgram = [
  'const { Worker, isMainThread } = require("worker_threads");',
  "if (isMainThread) new Worker(__filename);",
  'else console.log(typeof require("os").networkInterfaces(), String(require("child_process").execSync("echo 2")));',
].join("\n");

test.each([
  [
    "git",
    "git init -q && git -c user.name=a -c user.email=a@b.c commit -q --allow-empty -m x && git log --format=%s",
    "x",
  ],
  ["python3", `cat > a.py << 'END'\n${pythonProgram}\nEND\npython3 a.py`, "1\n2"],
  ["node", `cat > a.cjs << 'END'\n${nodeProgram}\nEND\nnode a.cjs`, "object 2"],
  ["sort", "seq 100000 | sort -R --parallel=4 | sort -n --parallel=4 -S 1M | tail -n 1", "100000"],
  ["tar", "mkdir in out; echo x > in/y; tar -czf a.tgz in && tar -xzf a.tgz -C out && cat out/in/y", "x"],
])("%s runs with the filter", async (program, command, expected) => {
  const { output, run } = await openSandbox();
  expect(await output("grep ^Seccomp: /proc/self/status")).toBe("Seccomp:\t2");
  // Not every machine has each of them.
  if ((await run(`command -v ${program}`)).exitCode === 0) expect(await output(command)).toBe(expected);
});

test("the configuration in /usr/local/etc is not visible", async (context) => {
  if (process.getuid?.() !== 0 || !existsSync("/usr/local/etc")) return context.skip("Only root can write there.");
  const file = `/usr/local/etc/thinkery-test-${randomBytes(8).toString("hex")}`;
  writeFileSync(file, "secret");
  onTestFinished(() => rmSync(file));
  const { output } = await openSandbox();
  expect(await output("ls -A /usr/local/etc; touch /usr/local/etc/x 2>&1 | grep -c Read-only")).toBe("1");
});
