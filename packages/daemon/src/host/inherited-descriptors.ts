import { openSync, readdirSync, readFileSync } from "node:fs";

/** What a child gets on its descriptors, from 0. */
export type Descriptors = ("pipe" | "ignore" | number)[];

const closeOnExec = 0o2000000;

let nullDescriptor: number | undefined;
let cachedInherited: number[] | undefined;

/**
 * Replaces descriptors that we inherited from our parent by /dev/null. A child would inherit them too, and could use
 * them to get around its isolation.
 */
export function dropInheritedDescriptors(descriptors: Descriptors): Descriptors {
  const all = [...descriptors];
  for (const descriptor of listInherited()) {
    while (all.length <= descriptor) all.push("ignore");
    // "ignore" alone would leave an inherited descriptor open.
    if (all[descriptor] === "ignore") all[descriptor] = nullDescriptor ??= openSync("/dev/null", "r+");
  }
  return all;
}

/** Node opens its own descriptors close-on-exec, so the others are the inherited ones. */
function listInherited(): number[] {
  cachedInherited ??= listDescriptors().filter((descriptor) => descriptor > 2 && isInheritable(descriptor));
  return cachedInherited;
}

function listDescriptors(): number[] {
  try {
    return readdirSync("/proc/self/fd").map(Number);
  } catch {
    // Only Linux has /proc/self/fd.
    return [];
  }
}

function isInheritable(descriptor: number): boolean {
  try {
    const flags = /^flags:\s*([0-7]+)$/m.exec(readFileSync(`/proc/self/fdinfo/${descriptor}`, "utf8"))?.[1] ?? "0";
    return (Number.parseInt(flags, 8) & closeOnExec) === 0;
  } catch {
    // It was the descriptor used for reading the list.
    return false;
  }
}
