import type { JsonValue } from "./wire.ts";

/** Returns a copy as JSON has it. Throws with the path of what JSON cannot express; `what` names the value. */
export function toJson(value: unknown, what: string): JsonValue {
  return copy(value, { what, path: "", parents: [] });
}

interface Position {
  what: string;
  path: string;
  parents: readonly object[];
}

const maxDepth = 200;

function copy(value: unknown, at: Position): JsonValue {
  if (value === null || typeof value === "boolean" || typeof value === "string") return value;
  if (typeof value === "number") {
    if (Number.isFinite(value)) return value;
    throw createError(at, String(value));
  }
  if (typeof value !== "object") throw createError(at, value === undefined ? "undefined" : `a ${typeof value}`);
  if (at.parents.includes(value)) throw createError(at, "a circular reference");
  if (at.parents.length >= maxDepth) throw createError(at, `more than ${maxDepth} levels deep`);
  const parents = [...at.parents, value];
  if (Array.isArray(value)) {
    return value.map((part, index) => copy(part, { ...at, path: `${at.path}[${index}]`, parents }));
  }
  if (typeof (value as { toJSON?: unknown }).toJSON === "function")
    return copy((value as { toJSON(): unknown }).toJSON(), { ...at, parents });
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null)
    throw createError(at, `a ${value.constructor?.name ?? "special object"}`);
  const object: Record<string, JsonValue> = {};
  for (const [key, part] of Object.entries(value)) {
    if (part === undefined) continue;
    const copied = copy(part, { ...at, path: `${at.path}.${key}`, parents });
    // Assignment would set the prototype.
    Object.defineProperty(object, key, { value: copied, enumerable: true, writable: true, configurable: true });
  }
  return object;
}

function createError({ what, path }: Position, found: string): TypeError {
  const place = path ? ` at ${path.replace(/^\./, "")}` : "";
  return new TypeError(
    `${what} must be JSON: text, finite numbers, booleans, null, lists and plain objects. Found ${found}${place}.`,
  );
}
