import { openSync, readdirSync, readFileSync } from "node:fs";

type Descriptors = ("pipe" | "ignore" | number)[];

const closeOnExec = 0o2000000;

let nullDescriptor: number | undefined;
let cachedInherited: number[] | undefined;

/**
 * The same descriptors for a child, with nothing in the place of those that whoever started us left open: a child
 * would have them too, and through one of them perhaps what it is shut off from.
 */
export function dropInheritedDescriptors(given: Descriptors): Descriptors {
  const all = [...given];
  for (const descriptor of listInherited()) {
    while (all.length <= descriptor) all.push("ignore");
    // That alone would leave it as it is.
    if (all[descriptor] === "ignore") all[descriptor] = nullDescriptor ??= openSync("/dev/null", "r+");
  }
  return all;
}

/** What is opened here is not passed on, so these are the ones that we came with. */
function listInherited(): number[] {
  cachedInherited ??= listDescriptors().filter((descriptor) => descriptor > 2 && isInheritable(descriptor));
  return cachedInherited;
}

function listDescriptors(): number[] {
  try {
    return readdirSync("/proc/self/fd").map(Number);
  } catch {
    // Other systems than Linux have no such place.
    return [];
  }
}

function isInheritable(descriptor: number): boolean {
  try {
    const flags = /^flags:\s*([0-7]+)$/m.exec(readFileSync(`/proc/self/fdinfo/${descriptor}`, "utf8"))?.[1] ?? "0";
    return (Number.parseInt(flags, 8) & closeOnExec) === 0;
  } catch {
    // It was the one that the list was read by.
    return false;
  }
}
