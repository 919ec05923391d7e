/** How an object is displayed. */
export interface ObjectFormat {
  /** The text before the brackets. */
  head: string;
  /** Whether brackets are omitted if there are no properties. */
  isBare?: boolean;
  brackets?: "{}" | "[]";
  isList?: boolean;
  /** Number of entries, if not all are shown. */
  total?: number;
  /** Content other than properties. */
  entries?(show: (value: unknown) => string): Iterable<string>;
  /** Properties that are not shown. */
  hides?: "all" | ((key: string | symbol) => boolean);
}

interface ObjectKind {
  type: Function;
  is(value: object): boolean;
  format(value: object, name: string, describe: (error: Error) => string): ObjectFormat;
}

/** Finds the format of an object by behaviour that only its kind has: names and prototypes can be forged. */
export function getObjectFormat(
  value: object,
  name: string | undefined,
  describe: (error: Error) => string,
): ObjectFormat {
  if (Array.isArray(value)) return formatList(value, name ?? "Array");
  const kind = getKinds().find(({ type, is }) => value instanceof type && is(value));
  if (kind) return kind.format(value, name ?? kind.type.name, describe);
  if (typeof value === "function") return { head: formatFunctionName(value), isBare: true };
  const tag = getTag(value);
  const label =
    name === undefined ? "[Object: null prototype] " : name === "Object" && tag === undefined ? "" : `${name} `;
  return { head: tag !== undefined && tag !== name ? `${label}[${tag}] ` : label };
}

function formatList(value: readonly unknown[], name: string): ObjectFormat {
  return {
    head: name === "Array" ? "" : `${name}(${value.length}) `,
    brackets: "[]",
    isList: true,
    total: value.length,
    // A long list has too many keys to search them for other properties.
    hides: value.length > 10_000 ? "all" : isIndex,
    *entries(show) {
      for (let at = 0; at < value.length;) {
        const first = at;
        while (at < value.length && at - first < 100_000 && !Object.hasOwn(value, at)) at++;
        // A gap this long is taken to reach to the end.
        if (at - first === 100_000) at = value.length;
        if (at > first) yield `<${at - first} empty item${at - first === 1 ? "" : "s"}>`;
        else yield show(Reflect.getOwnPropertyDescriptor(value, at++)?.value);
      }
    },
  };
}

function isIndex(key: string | symbol): boolean {
  return typeof key === "string" && /^\d+$/.test(key);
}

function formatFunctionName(value: Function): string {
  const name = Reflect.getOwnPropertyDescriptor(value, "name")?.value as unknown;
  const isNamed = typeof name === "string" && name !== "";
  if (Function.prototype.toString.call(value).startsWith("class")) return `[class ${isNamed ? name : "(anonymous)"}]`;
  return `[${Object.prototype.toString.call(value).slice(8, -1)}${isNamed ? `: ${name}` : " (anonymous)"}]`;
}

function getTag(value: object): string | undefined {
  for (let owner: object | null = value; owner !== null; owner = Reflect.getPrototypeOf(owner)) {
    const tag = Reflect.getOwnPropertyDescriptor(owner, Symbol.toStringTag);
    if (tag) return typeof tag.value === "string" ? tag.value.slice(0, 100) : undefined;
  }
  return undefined;
}

/** `proof` reads something that only objects of this kind have, and throws for all others. */
function createKind<T extends object>(
  type: Function & { prototype: T },
  proof: (value: T) => unknown,
  format: (value: T, name: string, describe: (error: Error) => string) => ObjectFormat,
): ObjectKind {
  const is = (value: object) => {
    try {
      proof(value as T);
      return true;
    } catch {
      return false;
    }
  };
  return { type, is, format: format as ObjectKind["format"] };
}

/** Reads a property with its type's getter, even if the object overrides it. */
function createPropertyReader<T extends object>(
  type: Function & { prototype: T },
  name: keyof T,
): (value: T) => unknown {
  const get = Reflect.getOwnPropertyDescriptor(type.prototype, name)?.get;
  return (value) => get?.call(value) as unknown;
}

/** For objects whose values are accessors on the prototype. */
function createPropertiesKind<T extends object>(
  type: Function & { prototype: T },
  ...names: (keyof T & string)[]
): ObjectKind {
  const readers = names.map((name) => [name, createPropertyReader(type, name)] as const);
  return createKind(type, readers[0]?.[1] ?? (() => undefined), (value, name) => ({
    head: `${name} `,
    *entries(show) {
      for (const [property, read] of readers) yield `${property}: ${show(read(value))}`;
    },
  }));
}

type Pairs = { entries(): IterableIterator<[unknown, unknown]> };

function createPairsKind<T extends object & Pairs>(
  type: Function & { prototype: T },
  getSize?: (value: T) => unknown,
): ObjectKind {
  const getEntries = type.prototype.entries;
  return createKind(
    type,
    (value) => getEntries.call(value),
    (value, name) => {
      const size = getSize?.(value) as number | undefined;
      return {
        head: size === undefined ? `${name} ` : `${name}(${size}) `,
        total: size ?? 0,
        *entries(show) {
          for (const [key, item] of getEntries.call(value)) yield `${show(key)} => ${show(item)}`;
        },
      };
    },
  );
}

function createBareKind<T extends object>(
  type: Function & { prototype: T },
  proof: (value: T) => unknown,
  toText: (value: T, describe: (error: Error) => string) => string,
  hides?: ObjectFormat["hides"],
): ObjectKind {
  return createKind(type, proof, (value, _, describe) => ({
    head: toText(value, describe),
    isBare: true,
    ...(hides ? { hides } : {}),
  }));
}

function createOpaqueKind<T extends object>(type: Function & { prototype: T }, placeholder: string): ObjectKind {
  return createKind(
    type,
    () => undefined,
    () => ({ head: `${type.name} `, entries: () => [placeholder] }),
  );
}

let cachedKinds: readonly ObjectKind[] | undefined;

/** Created on first use: most runs show no such objects, and an isolate should start fast. */
function getKinds(): readonly ObjectKind[] {
  if (cachedKinds) return cachedKinds;
  const typedArray = Reflect.getPrototypeOf(Uint8Array) as Function & { prototype: Uint8Array };
  const { getTime, toISOString } = Date.prototype;
  const { toString: regExpToString } = RegExp.prototype;
  const { values } = Set.prototype;
  const getLength = createPropertyReader(typedArray, "length");
  const getSize = createPropertyReader(Set, "size");
  cachedKinds = [
    createBareKind(
      Error,
      () => undefined,
      (error, describe) => describe(error),
      (key) => ["name", "message", "stack", "cause", "errors"].includes(String(key)),
    ),
    createPairsKind(Map, createPropertyReader(Map, "size")),
    createKind(Set, getSize, (set, name) => ({
      head: `${name}(${getSize(set)}) `,
      total: getSize(set) as number,
      *entries(show) {
        for (const value of values.call(set)) yield show(value);
      },
    })),
    createBareKind(
      Date,
      (date) => getTime.call(date),
      (date) => (Number.isNaN(getTime.call(date)) ? "Invalid Date" : toISOString.call(date)),
    ),
    createBareKind(RegExp, createPropertyReader(RegExp, "source"), (pattern) => regExpToString.call(pattern)),
    createKind(
      typedArray,
      (array) => getLength(array),
      (array, name) => ({
        head: `${name}(${getLength(array)}) `,
        brackets: "[]",
        isList: true,
        total: getLength(array) as number,
        hides: "all",
        *entries(show) {
          for (let at = 0; at < (getLength(array) as number); at++) yield show(array[at]);
        },
      }),
    ),
    createPropertiesKind(ArrayBuffer, "byteLength"),
    createPropertiesKind(DataView, "byteLength", "byteOffset"),
    createPropertiesKind(URL, "href"),
    createPropertiesKind(Blob, "size", "type"),
    createPropertiesKind(Response, "status", "statusText", "ok", "url", "headers"),
    createPropertiesKind(Request, "method", "url", "headers"),
    createPairsKind(Headers as Function & { prototype: Headers & Pairs }),
    createPairsKind(URLSearchParams as Function & { prototype: URLSearchParams & Pairs }),
    createPairsKind(FormData as Function & { prototype: FormData & Pairs }),
    createOpaqueKind(Promise, "<not awaited>"),
    createOpaqueKind(WeakMap, "<items unknown>"),
    createOpaqueKind(WeakSet, "<items unknown>"),
    createBareKind(
      Number,
      (value) => Number.prototype.valueOf.call(value),
      (value) => `[Number: ${Number.prototype.valueOf.call(value)}]`,
    ),
    createBareKind(
      Boolean,
      (value) => Boolean.prototype.valueOf.call(value),
      (value) => `[Boolean: ${Boolean.prototype.valueOf.call(value)}]`,
    ),
    createBareKind(
      String,
      (value) => String.prototype.valueOf.call(value),
      (value) => `[String: ${JSON.stringify(String.prototype.valueOf.call(value).slice(0, 1000))}]`,
      "all",
    ),
  ];
  return cachedKinds;
}
