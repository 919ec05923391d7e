// Reads the input of a tool call. A model wrote it, so it may have any shape.

export function readTextField(input: unknown, name: string): string | undefined {
  const value = readField(input, name);
  return typeof value === "string" ? value : undefined;
}

export function readField(input: unknown, name: string): unknown {
  return input !== null && typeof input === "object" ? (input as Record<string, unknown>)[name] : undefined;
}

export function isEmptyObject(value: unknown): value is object {
  return value !== null && typeof value === "object" && !Array.isArray(value) && Object.keys(value).length === 0;
}

/** The input of a file tool. Like the tools, it accepts snake_case names and numbers as text. */
export class FileInput {
  readonly #fields = new Map<string, unknown>();

  /** Returns undefined if the input is not an object. */
  static from(input: unknown): FileInput | undefined {
    return input !== null && typeof input === "object" && !Array.isArray(input) ? new FileInput(input) : undefined;
  }

  private constructor(input: object) {
    for (const [key, value] of Object.entries(input)) {
      const camel = key.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
      const name = camel === "filePath" ? "path" : camel;
      if (name === key || !this.#fields.has(name)) this.#fields.set(name, value);
    }
  }

  /** Returns undefined if the field is not text; `fallback` is the value of a missing field. */
  readText(name: string, fallback?: string): string | undefined {
    const value = this.#fields.get(name) ?? fallback;
    return typeof value === "string" ? value : undefined;
  }

  /** An integer of at least 1. */
  readCount(name: string): number | undefined {
    const value = this.#fields.get(name);
    const number = typeof value === "string" && /^\d{1,15}$/.test(value) ? Number(value) : value;
    return typeof number === "number" && Number.isSafeInteger(number) && number >= 1 ? number : undefined;
  }

  readFlag(name: string): boolean {
    const value = this.#fields.get(name);
    return value === true || value === "true";
  }

  /** A list, which may be given as JSON text. */
  readList(name: string): unknown[] {
    const value = this.#fields.get(name);
    const list: unknown = typeof value === "string" ? parseJson(value) : value;
    return Array.isArray(list) ? list : [];
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
