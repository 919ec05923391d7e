import { once } from "node:events";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test as always, vi } from "vitest";
import { createTempFolder, createTempHome } from "../fixture.ts";
import { nobody } from "../isolation.ts";
import { createBubblewrapProvider } from "./bubblewrap.ts";
import { alice, openSandbox, findSandboxIssue } from "./fixture.ts";
import { type Programs, isolateCommand, type CommandIsolation } from "./isolation.ts";

const issue = await findSandboxIssue();
if (issue) console.warn(`These tests need a Linux sandbox. ${issue}`);
const test = always.skipIf(issue);

async function startListener(): Promise<{ port: number; calls(): number }> {
  let calls = 0;
  const server = createServer((socket) => {
    calls++;
    socket.on("error", () => {});
    socket.end("hello\n");
  }).listen(0, "127.0.0.1");
  onTestFinished(() => void server.close());
  await once(server, "listening");
  return { port: (server.address() as { port: number }).port, calls: () => calls };
}

test("there is no network unless the configuration allows it", async () => {
  const { port, calls } = await startListener();
  const connect = `timeout 5 bash -c 'cat < /dev/tcp/127.0.0.1/${port}'`;
  const closed = await openSandbox();
  expect(await closed.run(connect)).toMatchObject({ exitCode: 1, output: expect.stringContaining("refused") });
  expect(
    await closed.output(
      "ls /sys/class/net 2>/dev/null; tail -n +3 /proc/net/dev | cut -d: -f1 | tr -d ' '; cat /etc/resolv.conf 2>&1",
    ),
  ).toMatch(/^lo\ncat: .*No such file/);
  expect(calls()).toBe(0);
  const open = await openSandbox({ network: true });
  expect(await open.output(connect)).toBe("hello");
});

test("commands run as an unprivileged user and cannot gain privileges", async () => {
  const { output } = await openSandbox();
  expect(await output("id; hostname; grep -E 'CapEff|CapBnd|NoNewPrivs' /proc/self/status")).toBe(
    "uid=1000(sandbox) gid=1000(sandbox) groups=1000(sandbox)\nsandbox\nCapEff:\t0000000000000000\nCapBnd:\t0000000000000000\nNoNewPrivs:\t1",
  );
  expect(
    await output(
      "unshare -Ur true && echo made; unshare -n true && echo made; mount -t tmpfs x /tmp && echo made; chroot / true && echo made; echo end",
    ),
  ).not.toContain("made");
  // Outside the sandbox, too.
  const { home, run } = await openSandbox();
  await run("touch mine");
  const { uid } = statSync(join(home.path, "linux/global/alice/mine"));
  expect(uid).toBe(process.getuid?.() === 0 ? nobody : process.getuid?.());
});

test("the host's data, home folders and the machine's secrets are not visible", async () => {
  const { home, output } = await openSandbox();
  writeFileSync(home.tokenFile, "top secret");
  expect(await output("ls / | tr '\\n' ' '")).not.toMatch(/home|root|mnt|srv|boot|media|sys/);
  const paths = [
    home.path,
    home.tokenFile,
    home.run,
    "/root",
    "/home",
    "/etc/shadow",
    "/etc/ssl/private",
    "/etc/ssh",
    "/sys",
    "/var/lib",
    "/var/log",
  ];
  expect(await output(`for path in ${paths.join(" ")}; do test -e $path && echo $path; done; ls -d /usr`)).toBe("/usr");
  expect(await output("ls -A /tmp /run /dev/shm; find / -xdev -type s 2>/dev/null")).toBe(
    "/dev/shm:\n\n/run:\n\n/tmp:",
  );
  expect(await output("cat /etc/passwd | cut -d: -f1 | tr '\\n' ' '")).toBe("root sandbox nobody");
  expect(await output("cat /proc/[0-9]*/cmdline | tr '\\0' ' '")).not.toContain(home.path);
});

test("the machine's processes and the daemon's environment are not visible", async () => {
  vi.stubEnv("VERY_SECRET", "abracadabra");
  onTestFinished(() => void vi.unstubAllEnvs());
  const { output } = await openSandbox();
  expect(
    await output(
      "env | cut -d= -f1 | sort | tr '\\n' ' '; cat /proc/[0-9]*/environ | tr '\\0' '\\n' | grep -c VERY_SECRET",
    ),
  ).toBe("HOME LANG LOGNAME PATH PWD SHLVL TERM TMPDIR USER _ 0");
  const seen = (await output("ls /proc | grep -E '^[0-9]+$' | wc -l")).trim();
  expect(Number(seen)).toBeLessThan(10);
  expect(await output(`kill -0 ${process.pid} && echo reached`)).not.toContain("reached");
  const descriptors = (await output("exec ls -l /proc/self/fd")).matchAll(/ (\d+) -> (.*)$/gm);
  // Besides its own three, there is the one used for listing; others may exist but lead to /dev/null.
  const others = [...descriptors].filter(
    ([, descriptor, to = ""]) => Number(descriptor) > 2 && to !== "/dev/null" && !to.startsWith("/proc/"),
  );
  expect(others.map(([, , to]) => to)).toEqual([]);
});

test("a command can write only to its folder and to memory", async () => {
  const { output } = await openSandbox();
  const paths = [
    "/x",
    "/usr/x",
    "/usr/local/x",
    "/usr/bin/bash",
    "/etc/passwd",
    "/etc/x",
    "/dev/x",
    "/run/x",
    "/var/x",
    "/proc/sys/kernel/core_pattern",
    "/proc/sysrq-trigger",
    "/work/x",
  ];
  expect(await output(`for path in ${paths.join(" ")}; do (echo x >> $path) 2>/dev/null && echo $path; done`)).toBe(
    "/work/x",
  );
  expect(await output("echo x > /tmp/x && echo x > /work/x && echo x > /dev/shm/x && cat /tmp/x /var/tmp/x")).toBe(
    "x\nx",
  );
  // Files in memory do not outlive the command.
  expect(await output("ls /tmp /dev/shm | wc -w; ls /work")).toBe("2\nx");
});

test("an agent cannot reach the folders of others, even through links", async () => {
  const { home, output, run } = await openSandbox();
  await run("echo private > secret", { agent: "global~bob" });
  await run("echo private > secret", { agent: "review:pr-1~alice" });
  expect(
    await output("ls -A; ls -A ..; cat ../bob/secret ../../global/bob/secret 2>&1 | grep -c 'No such file'"),
  ).toContain("2");
  const outside = join(home.path, "linux/global/bob/secret");
  await run(`ln -s ${outside} link; ln -s / root; ln -s .. up; ln -s /proc/1/root init`);
  expect(await output(`cat link root${outside} up/bob/secret init${outside}; true`)).not.toContain("private");
  expect(readFileSync(outside, "utf8")).toBe("private\n");
  expect(readdirSync(join(home.path, "linux"))).toEqual(["global", "review:pr-1"]);
  expect(statSync(join(home.path, "linux/global/alice")).mode & 0o777).toBe(0o700);
});

test.each([
  "alice",
  "~alice",
  "global~",
  "global~..",
  "..~alice",
  ".~.",
  "global~a/../b",
  "global~a//b",
  "global~a/.gone-x",
  "../../etc~alice",
  "global~alice~bob",
  "global~.gone-x",
  "a\0b~c",
  "global~" + "x".repeat(100),
])("“%s” is refused as an agent name", async (agent) => {
  const { home, run, sandbox } = await openSandbox();
  await expect(run("true", { agent })).rejects.toMatchObject({ code: "bad_request" });
  await expect(sandbox.forget(agent)).rejects.toMatchObject({ code: "bad_request" });
  expect(existsSync(join(home.path, "linux"))).toBe(false);
});

test("an agent folder that is a link is not followed", async () => {
  const { home, run } = await openSandbox();
  const elsewhere = createTempFolder();
  mkdirSync(join(home.path, "linux/global"), { recursive: true });
  symlinkSync(elsewhere, join(home.path, "linux/global/alice"));
  await expect(run("touch x")).rejects.toMatchObject({ code: "unavailable" });
  expect(readdirSync(elsewhere)).toEqual([]);
});

test("deleting an agent stops its processes and removes its folder, whatever it contains, and nothing else", async () => {
  const { home, sandbox, run, errors } = await openSandbox();
  const treasure = join(createTempFolder(), "treasure");
  mkdirSync(treasure);
  writeFileSync(join(treasure, "gold"), "gold");
  const root = join(home.path, "linux");
  await run("echo kept > kept", { agent: "global~bob" });
  await run(
    `ln -s ${treasure} link; ln -s ${treasure}/gold file; ln -s ../bob bob; mkdir locked && touch locked/x && chmod 000 locked; touch -- '-rf' $'new\\nline'`,
  );
  // Longer than the maximum path length.
  await run(
    "d=0123456789012345678901234567890123456789; for i in $(seq 200); do mkdir $d && cd $d || break; done; pwd | wc -c",
  );
  const { id } = await sandbox.start({ agent: alice, command: "while :; do touch more; sleep 0.01; done" });
  await sandbox.forget(alice);
  expect(() => sandbox.read(alice, id)).toThrow("no process");
  expect(existsSync(join(root, "global/alice"))).toBe(false);
  await vi.waitUntil(() => readdirSync(root).join() === "global", { timeout: 10_000, interval: 10 });
  expect(readFileSync(join(treasure, "gold"), "utf8")).toBe("gold");
  expect(readFileSync(join(root, "global/bob/kept"), "utf8")).toBe("kept\n");
  expect((await run("ls -A")).output).toBe("");
  await sandbox.forget(alice);
  await sandbox.forget("nowhere~nobody");
  await sandbox.forget("global~bob");
  await vi.waitUntil(() => readdirSync(root).length === 0, { timeout: 10_000, interval: 10 });
  expect(errors).toEqual([]);
});

test("folders that an earlier host failed to remove are removed with the first command", async () => {
  const { home, run } = await openSandbox();
  const left = join(home.path, "linux/.gone-1234");
  mkdirSync(left, { recursive: true });
  writeFileSync(join(left, "x"), "x");
  await run("true");
  await vi.waitUntil(() => !existsSync(left), { timeout: 10_000, interval: 10 });
});

test("if the isolation fails, the error reveals no paths of the host", async () => {
  const { home, run, errors } = await openSandbox();
  await run("true");
  rmSync(join(home.run, "linux-etc"), { recursive: true });
  const shown: string[] = [];
  const error = await run("true", { onOutput: (text) => shown.push(text) }).catch((error: Error) => error);
  expect(error).toMatchObject({
    code: "unavailable",
    message: "The Linux sandbox could not be started. See the host's log.",
  });
  expect(shown).toEqual([]);
  expect(errors.join()).toContain("linux-etc");
});

test("output that looks like an error of bubblewrap is passed on", async () => {
  const { run } = await openSandbox();
  expect(await run("echo 'bwrap: not really'; echo more; exit 1")).toMatchObject({
    exitCode: 1,
    output: "bwrap: not really\nmore\n",
  });
  expect(await run("echo 'bwrap: not really'; exit 2")).toMatchObject({ exitCode: 2, output: "bwrap: not really\n" });
});

always("without bubblewrap, commands are refused with what to install, until it is installed", async () => {
  let missing: string | undefined = "bubblewrap is not installed. Install it.";
  const home = await createTempHome();
  const { getBubblewrap } = await import("../bubblewrap.ts");
  const provider = createBubblewrapProvider({
    home,
    find: async () => (missing ? { missing } : getBubblewrap()),
    onError() {},
  });
  const message = "The Linux sandbox needs bubblewrap. bubblewrap is not installed. Install it.";
  expect(await provider.findIssue()).toBe(message);
  const spec = {
    agent: alice,
    command: "true",
    limits: { memoryMb: 100, maxProcessesPerCommand: 512, network: false },
    cpuSeconds: 1,
    fileBytes: 1,
    onOutput() {},
  };
  await expect(provider.start(spec)).rejects.toMatchObject({ code: "unavailable", message });
  expect(existsSync(join(home.path, "linux"))).toBe(false);
  missing = undefined;
  if (!issue) expect(await (await provider.start(spec)).exited).toEqual({ code: 0 });
});

always("hidden folders are covered if they would be visible", () => {
  const programs: Programs = {
    bwrap: "/b",
    options: new Set(),
    prlimit: "/p",
    setsid: "/i",
    shell: "/s",
    nice: undefined,
    setpriv: undefined,
  };
  const limits = { memoryBytes: 1, fileBytes: 1, cpuSeconds: 1, processes: 1 };
  const isolation: CommandIsolation = { programs, folder: "/f", etc: "/e", hidden: [], network: false, limits };
  const listCovered = (...hidden: string[]) => {
    const options = String(isolateCommand({ ...isolation, hidden }, "x").inputs[0]).split("\0");
    return options
      .flatMap((option, index) => (option === "--tmpfs" ? [options[index + 1]] : []))
      .filter((path) => path !== "/tmp" && path !== "/dev/shm");
  };
  expect(listCovered("/home/alice/.thinkery", "/home/alice")).toEqual([]);
  // A folder inside a covered one cannot be covered again.
  expect(listCovered("/opt/thinkery/data", "/opt/thinkery", "/usr/home/alice", "/usr/home/alice")).toEqual([
    "/opt/thinkery",
    "/usr/home/alice",
  ]);
  expect(listCovered("/opt", "/usr", "/", "/optional")).toEqual(["/opt"]);
});
