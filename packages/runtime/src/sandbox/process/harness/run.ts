import { maxConsoleChars } from "../../bounds.ts";
import type { Outcome, RunHost } from "../../run.ts";
import { codeName } from "../names.ts";
import { defineGlobal } from "./absent.ts";
import { BoundedText } from "./bounded-text.ts";
import { createCapabilities } from "./capabilities.ts";
import { ConsoleBridge } from "./console-bridge.ts";
import { snapshotIntrinsics } from "./intrinsics.ts";
import { setUpGlobals, describeThrown } from "./set-up-globals.ts";
import type { RunSettings } from "./settings.ts";
import { describe } from "./trace.ts";
import { ValueTooLongError, formatValue } from "./value.ts";

const maxMessageChars = 19_000;

/** Runs the code of this isolate, once, and tells what came of it. */
export async function run(setting: RunSettings, host: RunHost): Promise<Outcome> {
  const written = new BoundedText(maxConsoleChars);
  const relay = new ConsoleBridge(host);
  const uncaught = setUpGlobals(setting, (text) => {
    written.add(text);
    relay.add(text);
  });
  const restore = snapshotIntrinsics();
  const input: unknown = setting.input === undefined ? undefined : JSON.parse(setting.input);
  const open: string[] = [];
  for (const [name, value] of Object.entries({ input, ...createCapabilities(host, open) })) defineGlobal(name, value);
  let ending: RunEnd;
  try {
    const { default: body } = (await import(`/${codeName}`)) as { default: () => Promise<unknown> };
    const value = await body();
    ending = {
      threw: false,
      value:
        setting.exportsDefault && typeof value === "function"
          ? await (value as (input: unknown) => unknown)(input)
          : value,
    };
  } catch (thrown) {
    ending = { threw: true, value: thrown };
  }
  await uncaught.settle();
  restore();
  for (const reason of uncaught.rejections) written.add(`Unhandled rejection: ${describeThrown(reason)}\n`);
  // What is under way now ends with this run, one way or another.
  if (open.length > 0)
    written.add(`Not awaited: ${open.slice(0, 10).join(", ")}. Whether that was done is not known.\n`);
  return toOutcome(ending, written);
}

interface RunEnd {
  threw: boolean;
  value: unknown;
}

function toOutcome({ threw, value }: RunEnd, written: BoundedText): Outcome {
  try {
    if (threw)
      return { ok: false, kind: "threw", message: truncateMessage(describeThrown(value)), console: written.text };
    const text = formatValue(value, { describe });
    return { ok: true, console: written.text, ...(text === undefined ? {} : { value: text }) };
  } catch (error) {
    const kind = error instanceof ValueTooLongError ? "limit" : "threw";
    return {
      ok: false,
      kind,
      message: truncateMessage(kind === "limit" ? (error as Error).message : describeThrown(error)),
      console: written.text,
    };
  }
}

function truncateMessage(message: string): string {
  return message.slice(0, maxMessageChars).toWellFormed();
}
