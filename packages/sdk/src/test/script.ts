import { fail } from "../protocol/errors.ts";
import { validateScript, type Script, type ScriptInput } from "../protocol/script.ts";

type Exchange = ScriptInput["exchanges"][number];

/** An exchange; one step alone needs no list. */
export type ExchangeInput = Exchange | (Pick<Exchange, "when"> & Exchange["steps"][number] & { steps?: undefined });

/**
 * The lines of a scripted model, checked where they are written:
 *
 *     script([
 *       { when: "order", steps: [{ call: { tool: "lookupOrder", input: { id: "A1" } } }, { text: "It is on its way." }] },
 *       { text: "You said: {{ message }}" },
 *     ])
 */
export function script(exchanges: readonly ExchangeInput[], more: Omit<ScriptInput, "exchanges"> = {}): Script {
  const { script: read, problems } = validateScript({ ...more, exchanges });
  if (read) return read;
  const told = problems.map(
    ({ path, message }) => `${path.filter((part) => part !== "exchanges").join(".")}: ${message}`,
  );
  throw fail("bad_request", `The script is not valid at ${told.join("; ")}.`, { problems });
}
