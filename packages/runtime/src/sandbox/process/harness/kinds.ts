/** How each kind of object looks. A kind is recognised by what only it can do: names and prototypes may lie. */

export interface Look {
  /** What stands before the brackets. */
  head: string;
  /** Is the head all there is, unless there are properties, too? */
  isBare?: boolean;
  brackets?: "{}" | "[]";
  isList?: boolean;
  /** How many entries there are, for when not all are shown. */
  total?: number;
  /** What it holds beside its properties. */
  entries?(show: (value: unknown) => string): Iterable<string>;
  /** Properties that are not worth showing. */
  hides?: "all" | ((key: string | symbol) => boolean);
}

interface Kind {
  type: Function;
  is(value: object): boolean;
  look(value: object, name: string, describe: (error: Error) => string): Look;
}

export function lookOf(value: object, name: string | undefined, describe: (error: Error) => string): Look {
  if (Array.isArray(value)) return list(value, name ?? "Array");
  const kind = kinds().find(({ type, is }) => value instanceof type && is(value));
  if (kind) return kind.look(value, name ?? kind.type.name, describe);
  if (typeof value === "function") return { head: functionName(value), isBare: true };
  const tag = tagOf(value);
  const label = name === undefined ? "[Object: null prototype] " : name === "Object" && tag === undefined ? "" : `${name} `;
  return { head: tag !== undefined && tag !== name ? `${label}[${tag}] ` : label };
}

function list(value: readonly unknown[], name: string): Look {
  return {
    head: name === "Array" ? "" : `${name}(${value.length}) `,
    brackets: "[]",
    isList: true,
    total: value.length,
    // A long list has too many keys to look for others among them.
    hides: value.length > 10_000 ? "all" : isIndex,
    *entries(show) {
      for (let at = 0; at < value.length; ) {
        const first = at;
        while (at < value.length && at - first < 100_000 && !Object.hasOwn(value, at)) at++;
        // Whoever makes a list of nothing at all makes a long one.
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

function functionName(value: Function): string {
  const name = Reflect.getOwnPropertyDescriptor(value, "name")?.value as unknown;
  const isNamed = typeof name === "string" && name !== "";
  if (Function.prototype.toString.call(value).startsWith("class")) return `[class ${isNamed ? name : "(anonymous)"}]`;
  return `[${Object.prototype.toString.call(value).slice(8, -1)}${isNamed ? `: ${name}` : " (anonymous)"}]`;
}

function tagOf(value: object): string | undefined {
  for (let owner: object | null = value; owner !== null; owner = Reflect.getPrototypeOf(owner)) {
    const tag = Reflect.getOwnPropertyDescriptor(owner, Symbol.toStringTag);
    if (tag) return typeof tag.value === "string" ? tag.value.slice(0, 100) : undefined;
  }
  return undefined;
}

/** `proof` reads something that only the real thing has, and throws for everything else. */
function kind<T extends object>(type: Function & { prototype: T }, proof: (value: T) => unknown, look: (value: T, name: string, describe: (error: Error) => string) => Look): Kind {
  const is = (value: object) => {
    try {
      proof(value as T);
      return true;
    } catch {
      return false;
    }
  };
  return { type, is, look: look as Kind["look"] };
}

/** Reads a property as its type defines it, whatever the object says. */
function reader<T extends object>(type: Function & { prototype: T }, name: keyof T): (value: T) => unknown {
  const get = Reflect.getOwnPropertyDescriptor(type.prototype, name)?.get;
  return (value) => get?.call(value) as unknown;
}

/** For an object whose facts are not properties of its own. */
function facts<T extends object>(type: Function & { prototype: T }, ...names: (keyof T & string)[]): Kind {
  const readers = names.map((name) => [name, reader(type, name)] as const);
  return kind(type, readers[0]?.[1] ?? (() => undefined), (value, name) => ({
    head: `${name} `,
    *entries(show) {
      for (const [fact, read] of readers) yield `${fact}: ${show(read(value))}`;
    },
  }));
}

type Pairs = { entries(): IterableIterator<[unknown, unknown]> };

function pairs<T extends object & Pairs>(type: Function & { prototype: T }, sizeOf?: (value: T) => unknown): Kind {
  const entriesOf = type.prototype.entries;
  return kind(type, (value) => entriesOf.call(value), (value, name) => {
    const size = sizeOf?.(value) as number | undefined;
    return {
      head: size === undefined ? `${name} ` : `${name}(${size}) `,
      total: size ?? 0,
      *entries(show) {
        for (const [key, held] of entriesOf.call(value)) yield `${show(key)} => ${show(held)}`;
      },
    };
  });
}

function bare<T extends object>(type: Function & { prototype: T }, proof: (value: T) => unknown, tell: (value: T, describe: (error: Error) => string) => string, hides?: Look["hides"]): Kind {
  return kind(type, proof, (value, _, describe) => ({ head: tell(value, describe), isBare: true, ...(hides ? { hides } : {}) }));
}

function veiled<T extends object>(type: Function & { prototype: T }, what: string): Kind {
  return kind(type, () => undefined, () => ({ head: `${type.name} `, entries: () => [what] }));
}

let known: readonly Kind[] | undefined;

/** Made when first needed: most runs show nothing that has to be looked into, and an isolate is to be ready soon. */
function kinds(): readonly Kind[] {
  if (known) return known;
  const typedArray = Reflect.getPrototypeOf(Uint8Array) as Function & { prototype: Uint8Array };
  const { getTime, toISOString } = Date.prototype;
  const { toString: patternText } = RegExp.prototype;
  const { values } = Set.prototype;
  const lengthOf = reader(typedArray, "length");
  const sizeOf = reader(Set, "size");
  known = [
    bare(Error, () => undefined, (error, describe) => describe(error), (key) => ["name", "message", "stack", "cause", "errors"].includes(String(key))),
    pairs(Map, reader(Map, "size")),
    kind(Set, sizeOf, (set, name) => ({
      head: `${name}(${sizeOf(set)}) `,
      total: sizeOf(set) as number,
      *entries(show) {
        for (const value of values.call(set)) yield show(value);
      },
    })),
    bare(Date, (date) => getTime.call(date), (date) => (Number.isNaN(getTime.call(date)) ? "Invalid Date" : toISOString.call(date))),
    bare(RegExp, reader(RegExp, "source"), (pattern) => patternText.call(pattern)),
    kind(typedArray, (array) => lengthOf(array), (array, name) => ({
      head: `${name}(${lengthOf(array)}) `,
      brackets: "[]",
      isList: true,
      total: lengthOf(array) as number,
      hides: "all",
      *entries(show) {
        for (let at = 0; at < (lengthOf(array) as number); at++) yield show(array[at]);
      },
    })),
    facts(ArrayBuffer, "byteLength"),
    facts(DataView, "byteLength", "byteOffset"),
    facts(URL, "href"),
    facts(Blob, "size", "type"),
    facts(Response, "status", "statusText", "ok", "url", "headers"),
    facts(Request, "method", "url", "headers"),
    pairs(Headers as Function & { prototype: Headers & Pairs }),
    pairs(URLSearchParams as Function & { prototype: URLSearchParams & Pairs }),
    pairs(FormData as Function & { prototype: FormData & Pairs }),
    veiled(Promise, "<not awaited>"),
    veiled(WeakMap, "<items unknown>"),
    veiled(WeakSet, "<items unknown>"),
    bare(Number, (value) => Number.prototype.valueOf.call(value), (value) => `[Number: ${Number.prototype.valueOf.call(value)}]`),
    bare(Boolean, (value) => Boolean.prototype.valueOf.call(value), (value) => `[Boolean: ${Boolean.prototype.valueOf.call(value)}]`),
    bare(String, (value) => String.prototype.valueOf.call(value), (value) => `[String: ${JSON.stringify(String.prototype.valueOf.call(value).slice(0, 1000))}]`, "all"),
  ];
  return known;
}
