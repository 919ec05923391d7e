import { getObjectFormat, type ObjectFormat } from "./kinds.ts";
import { formatEntries } from "./layout.ts";

export interface InspectOptions {
  /** Formats an error. */
  describe(error: Error): string;
  /** Objects nested deeper than this are only named. */
  depth?: number;
  /** Approximate maximum of characters in total. */
  maxChars?: number;
  /** Whether to rethrow if an object throws while it is inspected. */
  strict?: boolean;
}

const maxEntries = 100;
const maxStringChars = 10_000;

/** Formats a value for people to read. Does not run getters; the output is bounded. */
export function inspect(value: unknown, options: InspectOptions): string {
  return new Inspector(options).show(value, 0);
}

class Inspector {
  readonly #options: Required<InspectOptions>;
  readonly #ancestors: object[] = [];
  #charsLeft: number;

  constructor(options: InspectOptions) {
    this.#options = { depth: 4, maxChars: 100_000, strict: false, ...options };
    this.#charsLeft = this.#options.maxChars;
  }

  show(value: unknown, depth: number): string {
    const before = this.#charsLeft;
    const shown = this.#formatAny(value, depth);
    // Nested values are already counted.
    this.#charsLeft = Math.min(this.#charsLeft, before - shown.length);
    return shown;
  }

  #formatAny(value: unknown, depth: number): string {
    if (typeof value === "string") return quoteString(value);
    if (typeof value === "bigint") return `${value}n`;
    if (Object.is(value, -0)) return "-0";
    if (value === null || (typeof value !== "object" && typeof value !== "function")) return String(value);
    if (this.#ancestors.includes(value)) return "[Circular]";
    this.#ancestors.push(value);
    try {
      return this.#formatObject(value, depth);
    } catch (error) {
      if (this.#options.strict) throw error;
      return "[object that cannot be inspected]";
    } finally {
      this.#ancestors.pop();
    }
  }

  #formatObject(value: object, depth: number): string {
    const name = getClassName(value);
    const format = getObjectFormat(value, name, this.#options.describe);
    if (depth > this.#options.depth) return format.isBare ? format.head : `[${name ?? "Object: null prototype"}]`;
    const entries = [...this.#formatEntries(format, depth + 1), ...this.#formatProperties(value, format, depth + 1)];
    if (format.isBare && entries.length === 0) return format.head;
    return formatEntries(
      format.isBare ? `${format.head} ` : format.head,
      format.brackets ?? "{}",
      entries,
      format.isList === true,
    );
  }

  *#formatEntries({ entries, total = 0 }: ObjectFormat, depth: number): Iterable<string> {
    let count = 0;
    if (!entries) return;
    for (const entry of entries((value) => this.show(value, depth))) {
      if (count === maxEntries || this.#charsLeft <= 0) break;
      count++;
      yield entry;
    }
    if (total > count && (count === maxEntries || this.#charsLeft <= 0))
      yield `... ${formatMore(total - count, "item")}`;
  }

  *#formatProperties(owner: object, { hides = () => false }: ObjectFormat, depth: number): Iterable<string> {
    const keys = hides === "all" ? [] : Reflect.ownKeys(owner);
    let count = 0;
    for (const [at, key] of keys.entries()) {
      const descriptor = Reflect.getOwnPropertyDescriptor(owner, key);
      if (!descriptor?.enumerable || (hides !== "all" && hides(key))) continue;
      if (count === maxEntries || this.#charsLeft <= 0)
        return void (yield `... ${formatMore(keys.length - at, "property")}`);
      count++;
      yield `${formatKey(key)}: ${formatAccessor(descriptor) ?? this.show(descriptor.value, depth)}`;
    }
  }
}

function formatKey(key: string | symbol): string {
  if (typeof key === "symbol") return `[${String(key)}]`;
  return /^[A-Za-z_$][\w$]*$/.test(key) ? key : quoteString(key);
}

function formatAccessor({ get, set }: PropertyDescriptor): string | undefined {
  if (get) return set ? "[Getter/Setter]" : "[Getter]";
  return set ? "[Setter]" : undefined;
}

/** Returns the name of an object's constructor; undefined if it has no prototype. */
function getClassName(value: object): string | undefined {
  for (let type = Reflect.getPrototypeOf(value); type !== null; type = Reflect.getPrototypeOf(type)) {
    const creator = Reflect.getOwnPropertyDescriptor(type, "constructor")?.value as unknown;
    if (typeof creator !== "function") continue;
    const name = Reflect.getOwnPropertyDescriptor(creator, "name")?.value as unknown;
    if (typeof name === "string" && name !== "") return name.slice(0, 100);
  }
  return undefined;
}

const escapes: Record<string, string> = {
  "\n": "\\n",
  "\t": "\\t",
  "\r": "\\r",
  "\b": "\\b",
  "\f": "\\f",
  "\\": "\\\\",
};
// oxlint-disable-next-line no-control-regex -- these are the ones to escape
const controlCharacters = /[\u0000-\u001f\u007f\\]/g;

/** Quotes a string with the quotes that need the fewest escapes. */
function quoteString(text: string): string {
  const part = text.slice(0, maxStringChars);
  const quote = ["'", '"', "`"].find((candidate) => !part.includes(candidate)) ?? "'";
  const escaped = part.replace(
    controlCharacters,
    (char) => escapes[char] ?? `\\x${char.charCodeAt(0).toString(16).padStart(2, "0")}`,
  );
  const whole = `${quote}${quote === "'" ? escaped.replaceAll("'", "\\'") : escaped}${quote}`;
  return part.length < text.length ? `${whole}... ${formatMore(text.length - part.length, "character")}` : whole;
}

const plurals = { item: "items", property: "properties", character: "characters" };

function formatMore(count: number, what: keyof typeof plurals): string {
  return `${count} more ${count === 1 ? what : plurals[what]}`;
}
