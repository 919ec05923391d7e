const { ownKeys, defineProperty, deleteProperty, getPrototypeOf } = Reflect;

/** The intrinsics that reporting an outcome uses. Restoring all of them would cost every run too much. */
const usedIntrinsics: [owner: object, ...keys: PropertyKey[]][] = [
  [
    globalThis,
    "Array",
    "Date",
    "Error",
    "Function",
    "JSON",
    "Map",
    "Math",
    "Number",
    "Object",
    "Promise",
    "Reflect",
    "RegExp",
    "Set",
    "String",
    "Symbol",
  ],
  [Array, "isArray"],
  [
    Array.prototype,
    "at",
    "entries",
    "filter",
    "find",
    "flatMap",
    "includes",
    "join",
    "map",
    "pop",
    "push",
    "reduce",
    "slice",
    "some",
    Symbol.iterator,
  ],
  [
    String.prototype,
    "charCodeAt",
    "includes",
    "padEnd",
    "padStart",
    "replace",
    "replaceAll",
    "slice",
    "split",
    "startsWith",
    "toWellFormed",
  ],
  [RegExp.prototype, "exec", "test", Symbol.replace],
  [Object, "create", "entries", "hasOwn", "is", "keys"],
  [Number, "isFinite", "isNaN"],
  [Math, "max", "min"],
  [JSON, "stringify"],
  [Reflect, "getOwnPropertyDescriptor", "getPrototypeOf", "ownKeys"],
  [Function.prototype, "call", "toString"],
  [Error.prototype, "name", "message"],
  [Error, "prepareStackTrace"],
  [Object.prototype, "toString"],
  [Promise.prototype, "constructor", "then"],
  [Map.prototype, "entries", "values"],
  [getPrototypeOf([][Symbol.iterator]()) as object, "next"],
  [getPrototypeOf(function* () {}.prototype as object) as object, "next"],
];

/** Objects on which an additional property affects everything. */
const sharedPrototypes: object[] = [Object.prototype, Array.prototype];

/**
 * Saves intrinsics that code can change; returns a function that restores them as far as possible, to report the
 * outcome.
 */
export function snapshotIntrinsics(): () => void {
  const values = usedIntrinsics.map(([owner, ...keys]) =>
    keys.map((key) => (owner as Record<PropertyKey, unknown>)[key]),
  );
  const known = sharedPrototypes.map((owner) => ownKeys(owner));
  return () => {
    // Plain loops: anything else used here may itself have been changed.
    for (let at = 0; at < sharedPrototypes.length; at++) {
      const owner = sharedPrototypes[at] as object;
      const current = ownKeys(owner);
      for (let index = 0; index < current.length; index++)
        if (!includesKey(known[at] as PropertyKey[], current[index]))
          deleteProperty(owner, current[index] as PropertyKey);
    }
    for (let at = 0; at < usedIntrinsics.length; at++) {
      const keys = usedIntrinsics[at] as PropertyKey[];
      for (let index = 1; index < keys.length; index++) {
        const value = (values[at] as unknown[])[index - 1];
        // Without a prototype, which could add to the descriptor.
        defineProperty(
          keys[0] as unknown as object,
          keys[index] as PropertyKey,
          { __proto__: null, value, writable: true, configurable: true } as PropertyDescriptor,
        );
      }
    }
  };
}

function includesKey(keys: PropertyKey[], key: PropertyKey | undefined): boolean {
  for (let at = 0; at < keys.length; at++) if (keys[at] === key) return true;
  return false;
}
