/** Numbers of a system call on x86-64 and arm64. */
type Numbers = readonly [x64: number, arm64: number];

interface Architecture {
  /** The kernel's AUDIT_ARCH_* value. */
  audit: number;
  index: 0 | 1;
  /** Numbers from here on belong to another ABI (x32). */
  firstForeign?: number;
}

const architectures: Readonly<Record<string, Architecture>> = {
  x64: { audit: 0xc000003e, index: 0, firstForeign: 0x40000000 },
  arm64: { audit: 0xc00000b7, index: 1 },
};

/** Refused with EPERM. No sandbox needs them, and many holes in the kernel were found behind them. */
export const forbiddenCalls = {
  add_key: [248, 217],
  request_key: [249, 218],
  keyctl: [250, 219],
  ptrace: [101, 117],
  process_vm_readv: [310, 270],
  process_vm_writev: [311, 271],
  pidfd_getfd: [438, 438],
  mount: [165, 40],
  umount2: [166, 39],
  pivot_root: [155, 41],
  open_tree: [428, 428],
  move_mount: [429, 429],
  fsopen: [430, 430],
  fsconfig: [431, 431],
  fsmount: [432, 432],
  fspick: [433, 433],
  mount_setattr: [442, 442],
  unshare: [272, 97],
  setns: [308, 268],
  bpf: [321, 280],
  perf_event_open: [298, 241],
  userfaultfd: [323, 282],
  kexec_load: [246, 104],
  kexec_file_load: [320, 294],
  init_module: [175, 105],
  finit_module: [313, 273],
  delete_module: [176, 106],
} as const satisfies Record<string, Numbers>;

/** Refused with ENOSYS, upon which programs use the older calls. The arguments of clone3 cannot be checked. */
export const unavailableCalls = {
  clone3: [435, 435],
  io_uring_setup: [425, 425],
  io_uring_enter: [426, 426],
  io_uring_register: [427, 427],
  // Files in memory that are not mapped count for no process. Programs use /dev/shm instead, whose size is limited.
  memfd_create: [319, 279],
  memfd_secret: [447, 447],
} as const satisfies Record<string, Numbers>;

const clone: Numbers = [56, 220];
const socket: Numbers = [41, 198];
const shmget: Numbers = [29, 194];

/** The same is true of System V's shared memory, of which some programs need a little. There are at most 4,096 of them. */
const maxSharedMemoryBytes = 16 * 1024;

/** All CLONE_NEW* flags: a process in a user namespace of its own reaches far more of the kernel. */
const namespaceFlags = 0x7e020000;
const afNetlink = 16;
/** AF_UNIX, AF_INET and AF_INET6. Others, such as AF_VSOCK and AF_ALG, are refused. */
const socketFamilies = [1, 2, 10];
/** The netlink protocol that lists network interfaces. */
const netlinkRoute = 0;

const allow = 0x7fff0000;
const killProcess = 0x80000000;
const refuse = (errno: number) => 0x00050000 | errno;
const eperm = refuse(1);
const enosys = refuse(38);

// Offsets in the kernel's struct seccomp_data. Of arguments that are ints, only the lower half counts.
const numberOffset = 0;
const architectureOffset = 4;
const getArgumentOffset = (index: number) => 16 + 8 * index;

/**
 * Returns the program (classic BPF) with which the kernel filters the system calls of sandboxes and commands; undefined
 * if it does not exist for this processor.
 */
export function createSeccompFilter(processor: string = process.arch): Uint8Array | undefined {
  const architecture = architectures[processor];
  if (!architecture) return undefined;
  const { audit, index, firstForeign } = architecture;
  const refuseAll = (calls: Record<string, Numbers>, action: number) =>
    Object.values(calls).flatMap((numbers) => [jumpUnlessEqual(numbers[index], 1), end(action)]);
  const checkClone = [load(getArgumentOffset(0)), jumpUnlessAnyBit(namespaceFlags, 1), end(eperm), end(allow)];
  const checkNetlink = [load(getArgumentOffset(2)), jumpUnlessEqual(netlinkRoute, 1), end(allow), end(eperm)];
  const checkSharedMemory = [
    load(getArgumentOffset(1) + 4),
    jumpUnlessEqual(0, 2),
    load(getArgumentOffset(1)),
    jumpIfLess(maxSharedMemoryBytes + 1, 1),
    end(eperm),
    end(allow),
  ];
  const checkSocket = [
    load(getArgumentOffset(0)),
    ...socketFamilies.flatMap((family) => [jumpUnlessEqual(family, 1), end(allow)]),
    jumpUnlessEqual(afNetlink, checkNetlink.length),
    ...checkNetlink,
    end(eperm),
  ];
  return encode([
    load(architectureOffset),
    jumpUnlessEqual(audit, 1),
    jump(1),
    end(killProcess),
    load(numberOffset),
    ...(firstForeign === undefined ? [] : [jumpIfLess(firstForeign, 1), end(killProcess)]),
    ...refuseAll(forbiddenCalls, eperm),
    ...refuseAll(unavailableCalls, enosys),
    jumpUnlessEqual(clone[index], checkClone.length),
    ...checkClone,
    jumpUnlessEqual(socket[index], checkSocket.length),
    ...checkSocket,
    jumpUnlessEqual(shmget[index], checkSharedMemory.length),
    ...checkSharedMemory,
    end(allow),
  ]);
}

/** An instruction, struct sock_filter. The jumps count the instructions to skip. */
interface Instruction {
  code: number;
  ifTrue?: number;
  ifFalse?: number;
  value: number;
}

const load = (offset: number): Instruction => ({ code: 0x20, value: offset });
const jump = (count: number): Instruction => ({ code: 0x05, value: count });
const jumpUnlessEqual = (value: number, count: number): Instruction => ({ code: 0x15, ifFalse: count, value });
const jumpIfLess = (value: number, count: number): Instruction => ({ code: 0x35, ifFalse: count, value });
const jumpUnlessAnyBit = (value: number, count: number): Instruction => ({ code: 0x45, ifFalse: count, value });
const end = (action: number): Instruction => ({ code: 0x06, value: action });

function encode(instructions: Instruction[]): Uint8Array {
  const bytes = Buffer.alloc(instructions.length * 8);
  for (const [index, { code, ifTrue = 0, ifFalse = 0, value }] of instructions.entries()) {
    bytes.writeUInt16LE(code, index * 8);
    bytes.writeUInt8(ifTrue, index * 8 + 2);
    bytes.writeUInt8(ifFalse, index * 8 + 3);
    bytes.writeUInt32LE(value, index * 8 + 4);
  }
  return bytes;
}
