import {
  linuxLimitsSchema,
  sandboxLimitsSchema,
  subagentLimitsSchema,
  turnLimitsSchema,
  workspaceLimitsSchema,
} from "@thinkery/sdk/internal";
import { expect, test } from "vitest";
import { formatMainConfig, formatSandboxConfig, formatText, type MainConfig } from "./workerd-config.ts";

const config: MainConfig = {
  host: "127.0.0.1",
  port: 5099,
  modules: [
    { name: "main.js", path: "/dist/main.js" },
    { name: "chunk.js", path: "/dist/chunk.js" },
  ],
  slotPool: [{ name: "slot-pool.js", path: "/dist/slot-pool.js" }],
  blobIndex: [{ name: "blob-index.js", path: "/dist/blob-index.js" }],
  objects: "/home/objects",
  blobs: "/home/blobs",
  page: "/dist/page",
  mainSocket: "/run/main.sock",
  hostSocket: "/run/host.sock",
  hostKey: "key",
  sandboxSockets: ["/run/sandbox-0.sock", "/run/sandbox-1.sock"],
  agentSlots: 1,
  version: "1",
  adminTokenHash: "hash",
  startedAt: "now",
  allowedHosts: [],
  allowedOrigins: [],
  toolOrigins: [],
  providers: [],
  variables: ["OPENAI_API_KEY"],
  models: { providers: {}, prices: {} },
  turn: turnLimitsSchema.parse({}),
  policy: [],
  subagents: subagentLimitsSchema.parse({}),
  sandbox: sandboxLimitsSchema.parse({}),
  linux: linuxLimitsSchema.parse({}),
  workspace: workspaceLimitsSchema.parse({}),
  boot: { id: "1", after: "stop" },
};

test("no character can end a string early", () => {
  expect(formatText(`a"b\\c\nd\0e\x7f`)).toBe(String.raw`"a\"b\\c\x0ad\x00e\x7f"`);
  expect(formatText("é 🏛")).toBe('"é 🏛"');
  const evil = `x", writable = true)), (name = "y`;
  expect(formatMainConfig({ ...config, page: `/${evil}` })).toContain(
    String.raw`(path = "/x\", writable = true)), (name = \"y"))`,
  );
});

test("main gets a service and a binding for each slot", () => {
  const text = formatMainConfig(config);
  for (const n of [0, 1]) {
    expect(text).toContain(`(name = "sandbox-${n}", external = (address = "unix:/run/sandbox-${n}.sock"`);
    expect(text).toContain(`(name = "SANDBOX_${n}", service = "sandbox-${n}")`);
  }
  expect(text).not.toContain("SANDBOX_2");
});

test("one object that is never evicted leases the slots; without slots there is no pool", () => {
  const text = formatMainConfig(config);
  expect(text).toContain(
    `(name = "SLOT_POOL", durableObjectNamespace = (className = "SlotPool", serviceName = "slot-pool"))`,
  );
  expect(text).toContain(`(className = "SlotPool", uniqueKey = "slot-pool", preventEviction = true)`);
  expect(text).toContain(String.raw`(name = "SLOT_COUNTS", json = "{\"runs\":1,\"agents\":1}")`);
  expect(formatMainConfig({ ...config, sandboxSockets: [], agentSlots: 0 })).not.toMatch(/slot-?pool/i);
});

test("main gets the limits of code and commands", () => {
  const text = formatMainConfig({
    ...config,
    sandbox: { ...config.sandbox, maxRunsPerSlot: 77 },
    linux: { ...config.linux, maxProcesses: 3 },
  });
  expect(text).toMatch(/\(name = "SANDBOX_LIMITS", json = "\{.*\\"maxRunsPerSlot\\":77.*\}"\)/);
  expect(text).toMatch(/\(name = "LINUX_LIMITS", json = "\{.*\\"maxProcesses\\":3.*\}"\)/);
});

test("the entry is the first module and the page is read-only", () => {
  const text = formatMainConfig(config);
  expect(text.indexOf("/dist/main.js")).toBeLessThan(text.indexOf("/dist/chunk.js"));
  expect(text).toContain(`(name = "page", disk = (path = "/dist/page"))`);
});

test("API keys come from the environment, and only the models service reaches this machine", () => {
  const text = formatMainConfig(config);
  expect(text).toContain(`(name = "OPENAI_API_KEY", fromEnvironment = "OPENAI_API_KEY")`);
  expect(text).toContain(`(name = "internet", network = (allow = ["public"],`);
  expect(text).toContain(`globalOutbound = "internet"`);
  expect(text.match(/"local"/g)).toHaveLength(1);
});

test("an IPv6 address is written with brackets", () => {
  expect(formatMainConfig({ ...config, host: "::1" })).toContain(`address = "[::1]:5099"`);
});

test("a sandbox has no network and little memory", () => {
  const text = formatSandboxConfig({ socket: "/run/s.sock", modules: [{ name: "s.js", path: "/s.js" }], memoryMb: 77 });
  expect(text).toContain("network = (allow = [])");
  expect(text).toContain(`v8Flags = ["--max-old-space-size=77"]`);
});
