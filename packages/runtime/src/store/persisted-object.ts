/**
 * Objects that are stored as they are assigned, property by property. What is inside of a value is never written by
 * itself, so a change in place would be lost at the next wake without anybody noticing. Here it is noticed: in
 * development by an error that names the field, elsewhere because everything inside is frozen.
 */
export interface PersistedOptions<T extends object> {
  /** What it is called in the error. */
  name: string;
  value: T;
  development: boolean;
  /** Stores one property; without it, nothing can be assigned at all. */
  write?(key: string, value: unknown): void;
}

const maxValueChars = 64 * 1024;
const maxKeys = 64;

export function createPersistedObject<T extends object>({ name, value, development, write }: PersistedOptions<T>): T {
  const protect = (key: string, part: unknown) =>
    development ? guardValue(part, `${name}.${key}`, `${name}.${key}`) : deepFreeze(part);
  const shown = new Map<string, unknown>();

  const assign = (key: string | symbol, next: unknown): boolean => {
    if (typeof key === "symbol") return false;
    if (!write) throw new Error(`${name}.${key} cannot be set: ${name} is what the agent's log says.`);
    const copy = next === undefined ? undefined : copyAsJson(next, `${name}.${key}`);
    if (copy !== undefined && !Object.hasOwn(value, key) && Object.keys(value).length >= maxKeys) {
      throw new Error(`${name} has ${maxKeys} keys already, and ${key} would be one too many.`);
    }
    write(key, copy);
    shown.delete(key);
    if (copy === undefined) Reflect.deleteProperty(value, key);
    else Reflect.set(value, key, copy);
    return true;
  };

  return new Proxy(value, {
    get(target, key) {
      const part: unknown = Reflect.get(target, key);
      if (typeof key === "symbol" || typeof part !== "object" || part === null) return part;
      if (!shown.has(key)) shown.set(key, protect(key, part));
      return shown.get(key);
    },
    set: (_target, key, next) => assign(key, next),
    deleteProperty: (_target, key) => assign(key, undefined),
    // A freeze would define every property anew, without a value.
    preventExtensions: () => false,
    defineProperty: (_target, key, descriptor) => "value" in descriptor && assign(key, descriptor.value),
  });
}

/** A view of a value in which every change throws. */
function guardValue(value: unknown, path: string, field: string): unknown {
  if (typeof value !== "object" || value === null) return value;
  const refuse = (key: string | symbol): never => {
    throw new Error(
      `${path}.${String(key)} was changed in place, and that would not be stored. Assign a new value: ${field} = {…}.`,
    );
  };
  return new Proxy(value, {
    get: (target, key) =>
      guardValue(
        Reflect.get(target, key),
        Array.isArray(target) ? `${path}[${String(key)}]` : `${path}.${String(key)}`,
        field,
      ),
    set: (_target, key) => refuse(key),
    deleteProperty: (_target, key) => refuse(key),
    defineProperty: (_target, key) => refuse(key),
  });
}

/** Plain data that nobody can change any more, all the way down. */
export function deepFreeze<T>(value: T): T {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return value;
  const prototype: unknown = Object.getPrototypeOf(value);
  if (!Array.isArray(value) && prototype !== Object.prototype && prototype !== null) return value;
  for (const part of Object.values(value)) deepFreeze(part);
  return Object.freeze(value);
}

/** The same data once more, for somebody who may look at it only. */
export function createFrozenCopy<T>(value: T): T {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return Object.freeze(value.map(createFrozenCopy)) as T;
  return Object.freeze(
    Object.fromEntries(Object.entries(value).map(([key, part]) => [key, createFrozenCopy(part)])),
  ) as T;
}

/** As it will be read again: whoever assigned it may go on changing what is theirs. */
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
    throw new Error(`${path} has ${text.length} characters as JSON; what is kept may have ${maxValueChars}.`);
  return JSON.parse(text) as unknown;
}
