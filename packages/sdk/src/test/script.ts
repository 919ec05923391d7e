import { fail } from "../protocol/errors.ts";
import { validateScript, type Script, type ScriptInput } from "../protocol/script.ts";

type Exchange = ScriptInput["exchanges"][number];

/** An exchange. A single step can be given without a list. */
export type ExchangeInput = Exchange | (Pick<Exchange, "when"> & Exchange["steps"][number] & { steps?: undefined });

/**
 * Defines the script of a scripted model. Throws at once if it is invalid.
 *
 * ```ts
 * script([
 *   { when: "order", steps: [{ call: { tool: "lookupOrder", input: { id: "A1" } } }, { text: "It is on its way." }] },
 *   { text: "You said: {{ message }}" },
 * ]);
 * ```
 */
export function script(exchanges: readonly ExchangeInput[], options: Omit<ScriptInput, "exchanges"> = {}): Script {
  const { script: parsed, issues } = validateScript({ ...options, exchanges });
  if (parsed) return parsed;
  const lines = issues.map(
    ({ path, message }) => `${path.filter((part) => part !== "exchanges").join(".")}: ${message}`,
  );
  throw fail("bad_request", `Invalid script: ${lines.join("; ")}.`, { issues });
}
