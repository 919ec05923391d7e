import { maxConsoleChars } from "../../bounds.ts";
import type { Outcome, RunHost } from "../../run.ts";
import { codeName } from "../names.ts";
import { defineGlobal } from "./absent.ts";
import { BoundedText } from "./bounded-text.ts";
import { createCapabilities } from "./capabilities.ts";
import { ConsoleBridge } from "./console-bridge.ts";
import { snapshotIntrinsics } from "./intrinsics.ts";
import { setUpGlobals, describeThrown, truncateOutcome } from "./set-up-globals.ts";
import type { RunSettings } from "./settings.ts";
import { describe } from "./trace.ts";
import { ValueTooLongError, formatValue } from "./value.ts";

/** Runs the code of this isolate once and returns its outcome. */
export async function run(settings: RunSettings, host: RunHost): Promise<Outcome> {
  const output = new BoundedText(maxConsoleChars);
  const consoleBridge = new ConsoleBridge(host);
  const uncaught = setUpGlobals(settings, (text) => {
    output.add(text);
    consoleBridge.add(text);
  });
  const restore = snapshotIntrinsics();
  const input: unknown = settings.input === undefined ? undefined : JSON.parse(settings.input);
  const open: string[] = [];
  for (const [name, value] of Object.entries({ input, ...createCapabilities(host, open) })) defineGlobal(name, value);
  let ending: RunEnd;
  try {
    const { default: body } = (await import(`/${codeName}`)) as { default: () => Promise<unknown> };
    const value = await body();
    ending = {
      threw: false,
      value:
        settings.exportsDefault && typeof value === "function"
          ? await (value as (input: unknown) => unknown)(input)
          : value,
    };
  } catch (thrown) {
    ending = { threw: true, value: thrown };
  }
  await uncaught.settle();
  restore();
  for (const reason of uncaught.rejections) output.add(`Unhandled rejection: ${describeThrown(reason)}\n`);
  // Calls still in progress end with this run, one way or the other.
  if (open.length > 0) output.add(`Not awaited: ${open.slice(0, 10).join(", ")}. Whether they completed is unknown.\n`);
  return toOutcome(ending, output);
}

interface RunEnd {
  threw: boolean;
  value: unknown;
}

function toOutcome({ threw, value }: RunEnd, output: BoundedText): Outcome {
  try {
    if (threw)
      return { ok: false, kind: "threw", message: truncateOutcome(describeThrown(value)), console: output.text };
    const text = formatValue(value, { describe });
    return { ok: true, console: output.text, ...(text === undefined ? {} : { value: text }) };
  } catch (error) {
    const kind = error instanceof ValueTooLongError ? "limit" : "threw";
    return {
      ok: false,
      kind,
      message: truncateOutcome(kind === "limit" ? (error as Error).message : describeThrown(error)),
      console: output.text,
    };
  }
}
