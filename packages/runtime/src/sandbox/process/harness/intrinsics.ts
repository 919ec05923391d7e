/** What every program works with can be changed by the code that is run here. Its report is made with the originals. */

const { ownKeys, getOwnPropertyDescriptor, defineProperty, deleteProperty, getPrototypeOf } = Reflect;

/** What the report needs; looking after more of it would cost every run more than it is worth. */
const owners = (): object[] => [
  globalThis,
  Object,
  Array,
  Number,
  Error,
  JSON,
  Reflect,
  ...[Object, Array, String, Function, Promise, RegExp, Error, Map, Set].map(({ prototype }) => prototype as object),
  getPrototypeOf([][Symbol.iterator]()) as object,
];

interface Known {
  owner: object;
  keys: PropertyKey[];
  /** Without a prototype, which would have its say in what they say. */
  descriptors: PropertyDescriptor[];
}

/** Takes note of everything; what it gives back puts it back as far as that can be done. */
export function remember(): () => void {
  const known = owners().map((owner): Known => {
    const keys = ownKeys(owner);
    return { owner, keys, descriptors: keys.map((key) => ({ __proto__: null, ...getOwnPropertyDescriptor(owner, key) })) };
  });
  return () => {
    // Plain loops: whatever else could be used here may itself be what was changed.
    for (let at = 0; at < known.length; at++) {
      const { owner, keys, descriptors } = known[at] as Known;
      for (let index = 0; index < keys.length; index++) defineProperty(owner, keys[index] as PropertyKey, descriptors[index] as PropertyDescriptor);
      const now = ownKeys(owner);
      if (now.length === keys.length) continue;
      for (let index = 0; index < now.length; index++) if (!isIn(keys, now[index])) deleteProperty(owner, now[index] as PropertyKey);
    }
  };
}

function isIn(keys: PropertyKey[], key: PropertyKey | undefined): boolean {
  for (let at = 0; at < keys.length; at++) if (keys[at] === key) return true;
  return false;
}
