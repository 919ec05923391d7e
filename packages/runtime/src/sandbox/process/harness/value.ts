import { maxValueChars } from "../../bounds.ts";
import { inspect, type InspectOptions } from "./inspect.ts";

export class ValueTooLongError extends Error {}

/** Formats a run's return value: as JSON if that loses nothing, otherwise like `inspect`. */
export function formatValue(value: unknown, options: InspectOptions): string | undefined {
  if (value === undefined) return undefined;
  if (typeof value === "string") return checkLength(value);
  const copy = copyPlain(value, { left: maxValueChars, ancestors: [] });
  return checkLength(
    copy === notPlain
      ? inspect(value, { ...options, depth: 6, maxChars: 1_000_000, strict: true })
      : JSON.stringify(copy),
  );
}

const notPlain = Symbol("not plain");

interface SizeBudget {
  left: number;
  ancestors: object[];
}

/**
 * Copies plain data; returns `notPlain` for anything else. Everything is read exactly once, so that the value cannot
 * change between the check and its serialization.
 */
function copyPlain(value: unknown, budget: SizeBudget): unknown {
  if (value === null || typeof value === "boolean") return spend(value, 4, budget);
  if (typeof value === "string") return spend(value, value.length + 2, budget);
  if (typeof value === "number") return Number.isFinite(value) ? spend(value, 1, budget) : notPlain;
  // Too deeply nested values are inspected, to a limited depth.
  if (typeof value !== "object" || budget.ancestors.length > 500 || budget.ancestors.includes(value)) return notPlain;
  budget.ancestors.push(value);
  const copy = Array.isArray(value) ? copyPlainList(value, budget) : copyPlainObject(value, budget);
  budget.ancestors.pop();
  return copy;
}

function copyPlainList(list: readonly unknown[], budget: SizeBudget): unknown {
  if (list.length > budget.left) throwTooLong();
  if (Reflect.getPrototypeOf(list) !== Array.prototype) return notPlain;
  const copy: unknown[] = [];
  for (let at = 0; at < list.length; at++) {
    const part = Object.hasOwn(list, at) ? copyPlain(list[at], spend(budget, 1, budget)) : notPlain;
    if (part === notPlain) return notPlain;
    copy.push(part);
  }
  return spend(copy, 2, budget);
}

function copyPlainObject(value: object, budget: SizeBudget): unknown {
  const type = Reflect.getPrototypeOf(value);
  if (type !== Object.prototype && type !== null) return notPlain;
  const copy = Object.create(null) as Record<string, unknown>;
  for (const key of Reflect.ownKeys(value)) {
    const property = Reflect.getOwnPropertyDescriptor(value, key);
    if (!property?.enumerable) continue;
    if (typeof key === "symbol" || !("value" in property)) return notPlain;
    // As in JSON, undefined properties are omitted.
    if (property.value === undefined) continue;
    const part = copyPlain(property.value, spend(budget, key.length + 3, budget));
    if (part === notPlain) return notPlain;
    copy[key] = part;
  }
  return spend(copy, 2, budget);
}

function spend<T>(value: T, chars: number, budget: SizeBudget): T {
  budget.left -= chars;
  return budget.left < 0 ? throwTooLong() : value;
}

function throwTooLong(): never {
  throw new ValueTooLongError(
    `The returned value has more than ${maxValueChars} characters. Return only what is needed, or store the rest with a tool.`,
  );
}

function checkLength(text: string): string {
  if (text.length <= maxValueChars) return text.toWellFormed();
  throw new ValueTooLongError(
    `The returned value has ${text.length} characters; the limit is ${maxValueChars}. Return only what is needed, or store the rest with a tool.`,
  );
}
