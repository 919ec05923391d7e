import type { RE2JS } from "re2js";
import type { Work } from "../../host/fair-work.ts";

type Engine = typeof RE2JS;

const maxMatchedChars = 10_000;
/** Characters of a message times instructions of an expression. A large expression only sees the beginning. */
const maxMatchSteps = 1_000_000;
const stepsPerUnit = 8;

const expressionCharacter = /[\\^$.|?*+()[\]{}]/;

/**
 * The `when` of an exchange. `/…/i` is a regular expression; other patterns are matched as plain text first, then as an
 * expression. Messages come from anyone, so expressions are matched in linear time, by an engine that is loaded only if
 * a script has any. It has neither lookaround nor backreferences: such an expression never matches.
 */
export class MessagePattern {
  readonly #plain: string | undefined;
  readonly #expression: RE2JS | undefined;

  constructor(pattern: string, engine: Engine | undefined) {
    const [, source, flags] = /^\/(.+)\/([a-z]*)$/s.exec(pattern) ?? [];
    this.#plain = source === undefined ? pattern.toLowerCase() : undefined;
    if (engine && (source !== undefined || expressionCharacter.test(pattern)))
      this.#expression = compile(engine, source ?? pattern, flags ?? "i");
  }

  *matches(message: string): Work<boolean> {
    const text = message.slice(0, maxMatchedChars);
    if (this.#plain !== undefined && text.toLowerCase().includes(this.#plain)) return true;
    if (!this.#expression) return false;
    const size = this.#expression.programSize();
    const start = text.slice(0, maxMatchSteps / size);
    yield (start.length * size) / stepsPerUnit;
    return this.#expression.matcher(start).find();
  }
}

/** Parses the patterns of a script, each once. */
export async function parsePatterns(patterns: readonly string[]): Promise<Map<string, MessagePattern>> {
  const needsEngine = patterns.some((pattern) => expressionCharacter.test(pattern) || pattern.startsWith("/"));
  const { RE2JS: engine } = needsEngine ? await import("re2js") : {};
  return new Map(patterns.map((pattern) => [pattern, new MessagePattern(pattern, engine)]));
}

function compile(engine: Engine, source: string, flags: string): RE2JS | undefined {
  const bits: Record<string, number> = { i: engine.CASE_INSENSITIVE, m: engine.MULTILINE, s: engine.DOTALL };
  try {
    return engine.compile(
      engine.translateRegExp(source),
      [...flags].reduce((sum, flag) => sum | (bits[flag] ?? 0), 0),
    );
  } catch {
    return undefined;
  }
}
