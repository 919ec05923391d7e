import { maxConsoleChars } from "../../bounds.ts";
import type { Outcome, RunHost } from "../../run.ts";
import { codeName } from "../names.ts";
import { put } from "./absent.ts";
import { capabilitiesOf } from "./capabilities.ts";
import { furnish, told } from "./furnish.ts";
import { remember } from "./intrinsics.ts";
import { Relay } from "./relay.ts";
import type { RunSetting } from "./setting.ts";
import { describe } from "./trace.ts";
import { TooLong, valueText } from "./value.ts";
import { Written } from "./written.ts";

const maxMessageChars = 19_000;

/** Runs the code of this isolate, once, and tells what came of it. */
export async function run(setting: RunSetting, host: RunHost): Promise<Outcome> {
  const written = new Written(maxConsoleChars);
  const relay = new Relay(host);
  const uncaught = furnish(setting, (text) => {
    written.add(text);
    relay.add(text);
  });
  const restore = remember();
  const input: unknown = setting.input === undefined ? undefined : JSON.parse(setting.input);
  const open: string[] = [];
  for (const [name, value] of Object.entries({ input, ...capabilitiesOf(host, open) })) put(name, value);
  let ending: Ending;
  try {
    const { default: body } = (await import(`/${codeName}`)) as { default: () => Promise<unknown> };
    const value = await body();
    ending = { threw: false, value: setting.exportsDefault && typeof value === "function" ? await (value as (input: unknown) => unknown)(input) : value };
  } catch (thrown) {
    ending = { threw: true, value: thrown };
  }
  await uncaught.noticed();
  restore();
  for (const reason of uncaught.rejections) written.add(`Unhandled rejection: ${told(reason)}\n`);
  // What is under way now ends with this run, one way or another.
  if (open.length > 0) written.add(`Not awaited: ${open.slice(0, 10).join(", ")}. Whether that was done is not known.\n`);
  return outcomeOf(ending, written);
}

interface Ending {
  threw: boolean;
  value: unknown;
}

function outcomeOf({ threw, value }: Ending, written: Written): Outcome {
  try {
    if (threw) return { ok: false, kind: "threw", message: short(told(value)), console: written.text };
    const text = valueText(value, { describe });
    return { ok: true, console: written.text, ...(text === undefined ? {} : { value: text }) };
  } catch (error) {
    const kind = error instanceof TooLong ? "limit" : "threw";
    return { ok: false, kind, message: short(kind === "limit" ? (error as Error).message : told(error)), console: written.text };
  }
}

function short(message: string): string {
  return message.slice(0, maxMessageChars).toWellFormed();
}
