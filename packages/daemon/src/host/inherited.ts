import { openSync, readdirSync, readFileSync } from "node:fs";

type Descriptors = ("pipe" | "ignore" | number)[];

const closeOnExec = 0o2000000;

let nothing: number | undefined;
let known: number[] | undefined;

/**
 * The same descriptors for a child, with nothing in the place of those that whoever started us left open: a child
 * would have them too, and through one of them perhaps what it is shut off from.
 */
export function withoutInherited(given: Descriptors): Descriptors {
  const all = [...given];
  for (const descriptor of inherited()) {
    while (all.length <= descriptor) all.push("ignore");
    // That alone would leave it as it is.
    if (all[descriptor] === "ignore") all[descriptor] = nothing ??= openSync("/dev/null", "r+");
  }
  return all;
}

/** What is opened here is not passed on, so these are the ones that we came with. */
function inherited(): number[] {
  known ??= descriptors().filter((descriptor) => descriptor > 2 && isPassedOn(descriptor));
  return known;
}

function descriptors(): number[] {
  try {
    return readdirSync("/proc/self/fd").map(Number);
  } catch {
    // Other systems than Linux have no such place.
    return [];
  }
}

function isPassedOn(descriptor: number): boolean {
  try {
    const flags = /^flags:\s*([0-7]+)$/m.exec(readFileSync(`/proc/self/fdinfo/${descriptor}`, "utf8"))?.[1] ?? "0";
    return (Number.parseInt(flags, 8) & closeOnExec) === 0;
  } catch {
    // It was the one that the list was read by.
    return false;
  }
}
