/**
 * Objects whose properties are stored when they are assigned. Nested values are not tracked, so a change in place would
 * be lost silently at the next wake. To prevent that, it throws an error that names the field in development, and
 * nested values are frozen otherwise.
 */
export interface PersistedOptions<T extends object> {
  /** The object's name in error messages. */
  name: string;
  value: T;
  development: boolean;
  /** Stores one property. Without it, the object is read-only. */
  write?(key: string, value: unknown): void;
}

const maxValueChars = 64 * 1024;
const maxKeys = 64;

export function createPersistedObject<T extends object>({ name, value, development, write }: PersistedOptions<T>): T {
  const protect = (key: string, part: unknown) =>
    development ? guardValue(part, `${name}.${key}`, `${name}.${key}`) : deepFreeze(part);
  const protectedValues = new Map<string, unknown>();

  const assign = (key: string | symbol, next: unknown): boolean => {
    if (typeof key === "symbol") return false;
    if (!write) throw new Error(`${name}.${key} cannot be set: ${name} is read-only, derived from the agent's log.`);
    const copy = next === undefined ? undefined : copyAsJson(next, `${name}.${key}`);
    if (copy !== undefined && !Object.hasOwn(value, key) && Object.keys(value).length >= maxKeys) {
      throw new Error(`${name}.${key} cannot be added: ${name} already has ${maxKeys} keys, the maximum.`);
    }
    write(key, copy);
    protectedValues.delete(key);
    if (copy === undefined) Reflect.deleteProperty(value, key);
    else Reflect.set(value, key, copy);
    return true;
  };

  return new Proxy(value, {
    get(target, key) {
      const part: unknown = Reflect.get(target, key);
      if (typeof key === "symbol" || typeof part !== "object" || part === null) return part;
      if (!protectedValues.has(key)) protectedValues.set(key, protect(key, part));
      return protectedValues.get(key);
    },
    set: (_target, key, next) => assign(key, next),
    deleteProperty: (_target, key) => assign(key, undefined),
    // Object.freeze would redefine every property without a value.
    preventExtensions: () => false,
    defineProperty: (_target, key, descriptor) => "value" in descriptor && assign(key, descriptor.value),
  });
}

/** Returns a view of a value that throws on every change. */
function guardValue(value: unknown, path: string, field: string): unknown {
  if (typeof value !== "object" || value === null) return value;
  const rejectChange = (key: string | symbol): never => {
    throw new Error(
      `${path}.${String(key)} was changed in place, which would not be stored. Assign a new value: ${field} = {…}.`,
    );
  };
  return new Proxy(value, {
    get: (target, key) =>
      guardValue(
        Reflect.get(target, key),
        Array.isArray(target) ? `${path}[${String(key)}]` : `${path}.${String(key)}`,
        field,
      ),
    set: (_target, key) => rejectChange(key),
    deleteProperty: (_target, key) => rejectChange(key),
    defineProperty: (_target, key) => rejectChange(key),
  });
}

/** Freezes plain data recursively. */
export function deepFreeze<T>(value: T): T {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return value;
  const prototype: unknown = Object.getPrototypeOf(value);
  if (!Array.isArray(value) && prototype !== Object.prototype && prototype !== null) return value;
  for (const part of Object.values(value)) deepFreeze(part);
  return Object.freeze(value);
}

/** Returns a deeply frozen copy of plain data. */
export function createFrozenCopy<T>(value: T): T {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return Object.freeze(value.map(createFrozenCopy)) as T;
  return Object.freeze(
    Object.fromEntries(Object.entries(value).map(([key, part]) => [key, createFrozenCopy(part)])),
  ) as T;
}

/** Returns the value as it will be read back; later changes to the original have no effect on it. */
function copyAsJson(value: unknown, path: string): unknown {
  let text: string | undefined;
  try {
    text = JSON.stringify(value);
  } catch (error) {
    throw new Error(`${path} cannot be stored as JSON: ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    });
  }
  if (text === undefined) throw new Error(`${path} cannot be stored: it is a ${typeof value}.`);
  if (text.length > maxValueChars)
    throw new Error(`${path} has ${text.length} characters as JSON; the maximum is ${maxValueChars}.`);
  return JSON.parse(text) as unknown;
}
