import type { Capability } from "@thinkery/sdk/client";
import { callLine, capabilityLine, clipped, openLine, resultLine, type ShownCall, type ShownResult } from "./lines.ts";

interface Shown {
  /** The beginning of a line whose end has not come. */
  rest: string;
  lines: number;
  made: number;
}

/** More than this of one call is not for a terminal. */
const maxLines = 500;
const maxCalls = 50;
const maxLineChars = 200;

/** What calls show while they go on and what their code calls, as lines below the call's own. */
export class OpenCalls {
  private readonly shown = new Map<string, Shown>();
  /** The call that the last line is of. */
  private latest: string | undefined;

  progress(call: ShownCall, text: string): string[] {
    const shown = this.of(call);
    const lines = (shown.rest + text).split("\n");
    // Of a line that never ends, only its end is of use: a bar that is drawn again and again.
    shown.rest = lines.pop()?.slice(-4 * maxLineChars) ?? "";
    const fits = this.bounded(shown, lines);
    return fits.length === 0 ? [] : [...this.opening(call), ...fits];
  }

  within(call: ShownCall, made: Capability): string[] {
    const shown = this.of(call);
    shown.made++;
    if (shown.made > maxCalls) return [];
    return [...this.opening(call), capabilityLine(made)];
  }

  answered(call: ShownCall, result: ShownResult): string[] {
    const shown = this.shown.get(keyOf(call));
    if (!shown) return [callLine(call, result)];
    this.shown.delete(keyOf(call));
    const last = shown.rest === "" ? [] : this.bounded(shown, [shown.rest]);
    const more = shown.made > maxCalls ? [`  · … and ${shown.made - maxCalls} more calls`] : [];
    const isLatest = this.latest === keyOf(call);
    this.latest = undefined;
    return [...last, ...more, isLatest ? `  ${resultLine(result)}` : callLine(call, result)];
  }

  private of(call: ShownCall): Shown {
    const shown = this.shown.get(keyOf(call)) ?? { rest: "", lines: 0, made: 0 };
    this.shown.set(keyOf(call), shown);
    return shown;
  }

  /** Which call the next lines are of, where the ones before were of another. */
  private opening(call: ShownCall): string[] {
    if (this.latest === keyOf(call)) return [];
    this.latest = keyOf(call);
    return [openLine(call)];
  }

  private bounded(shown: Shown, lines: readonly string[]): string[] {
    const left = Math.max(0, maxLines - shown.lines);
    const fits = lines.slice(0, left).map((line) => `  │ ${clipped(drawn(line), maxLineChars)}`);
    const cut = left > 0 && lines.length > left ? ["  │ … more is not shown"] : [];
    shown.lines += lines.length;
    return [...fits, ...cut];
  }
}

/** What is left of a line on a terminal where parts of it were drawn over. */
function drawn(line: string): string {
  return line.replace(/\r$/, "").split("\r").at(-1) ?? "";
}

function keyOf({ id, name }: ShownCall): string {
  return id ?? name;
}
