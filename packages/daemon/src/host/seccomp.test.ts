import { expect, test } from "vitest";
import { createSeccompFilter, forbiddenCalls, unavailableCalls } from "./seccomp.ts";

const audits = { x64: 0xc000003e, arm64: 0xc00000b7, i386: 0x40000003, arm: 0x40000028 };
const clone = { x64: 56, arm64: 220 };
const shmget = { x64: 29, arm64: 194 };
const socket = { x64: 41, arm64: 198 };

interface Call {
  audit?: number;
  number: number;
  args?: number[];
}

const actions: Record<number, string> = {
  0x7fff0000: "allowed",
  0x80000000: "killed",
  0x00050001: "EPERM",
  0x00050026: "ENOSYS",
};

/** Runs the filter as the kernel does. */
function evaluate(processor: "x64" | "arm64", { audit = audits[processor], number, args = [] }: Call): string {
  const program = Buffer.from(createSeccompFilter(processor) as Uint8Array);
  const data = Buffer.alloc(64);
  data.writeUInt32LE(number, 0);
  data.writeUInt32LE(audit, 4);
  for (const [index, arg] of args.entries()) data.writeBigUInt64LE(BigInt(arg), 16 + index * 8);
  let value = 0;
  for (let at = 0; at < program.length; at += 8) {
    const code = program.readUInt16LE(at);
    const k = program.readUInt32LE(at + 4);
    const skip = (isTrue: boolean) => 8 * program.readUInt8(at + (isTrue ? 2 : 3));
    if (code === 0x20) value = data.readUInt32LE(k);
    else if (code === 0x05) at += 8 * k;
    else if (code === 0x15) at += skip(value === k);
    else if (code === 0x35) at += skip(value >= k);
    else if (code === 0x45) at += skip((value & k) !== 0);
    else if (code === 0x06) return actions[k] ?? k.toString(16);
    else throw new Error(`unknown instruction ${code}`);
  }
  throw new Error("the program has no end");
}

test.each(["x64", "arm64"] as const)("on %s the filter refuses exactly the calls that it lists", (processor) => {
  const index = processor === "x64" ? 0 : 1;
  const expected = new Map<number, string>();
  for (const numbers of Object.values(forbiddenCalls)) expected.set(numbers[index], "EPERM");
  for (const numbers of Object.values(unavailableCalls)) expected.set(numbers[index], "ENOSYS");
  for (let number = 0; number < 600; number++) {
    const found = evaluate(processor, { number, args: [1] });
    expect([number, found]).toEqual([number, expected.get(number) ?? "allowed"]);
  }
});

test.each(["x64", "arm64"] as const)(
  "on %s sockets, new processes and shared memory are checked by their arguments",
  (processor) => {
    const open = (...args: number[]) => evaluate(processor, { number: socket[processor], args });
    // Unix, IPv4, IPv6, and the netlink protocol that lists network interfaces.
    expect([open(1, 1), open(2, 1), open(10, 2), open(16, 3, 0)].filter((action) => action !== "allowed")).toEqual([]);
    // Generic netlink, packets, AF_ALG, AF_VSOCK; the kernel ignores the upper half of an int.
    const refused = [open(16, 3, 16), open(17, 3), open(38, 5), open(40, 1), open(0, 1), open(2 ** 32 + 40, 1)];
    expect(refused.filter((action) => action !== "EPERM")).toEqual([]);
    const start = (flags: number) => evaluate(processor, { number: clone[processor], args: [flags] });
    // A child as of fork and a thread; then mount, user and network namespaces.
    expect([start(17), start(0x3d0f00)]).toEqual(["allowed", "allowed"]);
    expect([start(0x20000), start(0x10000011), start(0x40000000)]).toEqual(["EPERM", "EPERM", "EPERM"]);
    const share = (bytes: number) => evaluate(processor, { number: shmget[processor], args: [1, bytes] });
    expect([share(0), share(56), share(16 * 1024)]).toEqual(["allowed", "allowed", "allowed"]);
    expect([share(16 * 1024 + 1), share(2 ** 31), share(2 ** 32)]).toEqual(["EPERM", "EPERM", "EPERM"]);
  },
);

test("calls of another architecture kill the process", () => {
  expect(evaluate("x64", { audit: audits.i386, number: 20 })).toBe("killed");
  expect(evaluate("x64", { number: 0x40000000 + 39 })).toBe("killed");
  expect(evaluate("x64", { number: 0xffffffff })).toBe("killed");
  expect(evaluate("x64", { audit: audits.arm64, number: 172 })).toBe("killed");
  expect(evaluate("arm64", { audit: audits.arm, number: 20 })).toBe("killed");
  expect(createSeccompFilter("riscv64")).toBeUndefined();
});
