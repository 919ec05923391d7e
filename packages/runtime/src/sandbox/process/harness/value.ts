import { maxValueChars } from "../../bounds.ts";
import { inspect, type InspectOptions } from "./inspect.ts";

/** What code gave back, as text: JSON where JSON says it all, otherwise as a person would want to read it. */

export class ValueTooLongError extends Error {}

export function formatValue(value: unknown, options: InspectOptions): string | undefined {
  if (value === undefined) return undefined;
  if (typeof value === "string") return checkLength(value);
  const copy = copyPlain(value, { left: maxValueChars, above: [] });
  return checkLength(
    copy === notPlain ? inspect(value, { ...options, depth: 6, room: 1_000_000, strict: true }) : JSON.stringify(copy),
  );
}

const notPlain = Symbol("not plain");

interface SizeBudget {
  left: number;
  above: object[];
}

/**
 * A copy of plain data, or that it is none. Everything is read exactly once, so what is written down afterwards cannot be
 * another thing than what was looked at.
 */
function copyPlain(value: unknown, measure: SizeBudget): unknown {
  if (value === null || typeof value === "boolean") return spend(value, 4, measure);
  if (typeof value === "string") return spend(value, value.length + 2, measure);
  if (typeof value === "number") return Number.isFinite(value) ? spend(value, 1, measure) : notPlain;
  // What is nested this deeply is shown as far as it can be read.
  if (typeof value !== "object" || measure.above.length > 500 || measure.above.includes(value)) return notPlain;
  measure.above.push(value);
  const copy = Array.isArray(value) ? copyPlainList(value, measure) : copyPlainObject(value, measure);
  measure.above.pop();
  return copy;
}

function copyPlainList(list: readonly unknown[], measure: SizeBudget): unknown {
  if (list.length > measure.left) throwTooLong();
  if (Reflect.getPrototypeOf(list) !== Array.prototype) return notPlain;
  const copy: unknown[] = [];
  for (let at = 0; at < list.length; at++) {
    const part = Object.hasOwn(list, at) ? copyPlain(list[at], spend(measure, 1, measure)) : notPlain;
    if (part === notPlain) return notPlain;
    copy.push(part);
  }
  return spend(copy, 2, measure);
}

function copyPlainObject(value: object, measure: SizeBudget): unknown {
  const type = Reflect.getPrototypeOf(value);
  if (type !== Object.prototype && type !== null) return notPlain;
  const copy = Object.create(null) as Record<string, unknown>;
  for (const key of Reflect.ownKeys(value)) {
    const property = Reflect.getOwnPropertyDescriptor(value, key);
    if (!property?.enumerable) continue;
    if (typeof key === "symbol" || !("value" in property)) return notPlain;
    // As everywhere in JSON: what is undefined is left out.
    if (property.value === undefined) continue;
    const part = copyPlain(property.value, spend(measure, key.length + 3, measure));
    if (part === notPlain) return notPlain;
    copy[key] = part;
  }
  return spend(copy, 2, measure);
}

function spend<T>(value: T, characters: number, measure: SizeBudget): T {
  measure.left -= characters;
  return measure.left < 0 ? throwTooLong() : value;
}

function throwTooLong(): never {
  throw new ValueTooLongError(
    `What the code gave back has more than ${maxValueChars} characters. Give back what is needed of it, or keep the rest with a tool.`,
  );
}

function checkLength(text: string): string {
  if (text.length <= maxValueChars) return text.toWellFormed();
  throw new ValueTooLongError(
    `What the code gave back has ${text.length} characters; it may have ${maxValueChars}. Give back what is needed of it, or keep the rest with a tool.`,
  );
}
