import type { Capability } from "@thinkery/sdk/client";
import {
  formatCall,
  formatCapability,
  clipLine,
  formatOpenCall,
  formatResult,
  type ShownCall,
  type ShownResult,
} from "./lines.ts";

interface ShownProgress {
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
  private readonly progressByCall = new Map<string, ShownProgress>();
  /** The call that the last line is of. */
  private latest: string | undefined;

  addProgress(call: ShownCall, text: string): string[] {
    const shown = this.getOrCreate(call);
    const lines = (shown.rest + text).split("\n");
    // Of a line that never ends, only its end is of use: a bar that is drawn again and again.
    shown.rest = lines.pop()?.slice(-4 * maxLineChars) ?? "";
    const fits = this.limitLines(shown, lines);
    return fits.length === 0 ? [] : [...this.openIfOther(call), ...fits];
  }

  addCapability(call: ShownCall, made: Capability): string[] {
    const shown = this.getOrCreate(call);
    shown.made++;
    if (shown.made > maxCalls) return [];
    return [...this.openIfOther(call), formatCapability(made)];
  }

  complete(call: ShownCall, result: ShownResult): string[] {
    const shown = this.progressByCall.get(getKey(call));
    if (!shown) return [formatCall(call, result)];
    this.progressByCall.delete(getKey(call));
    const last = shown.rest === "" ? [] : this.limitLines(shown, [shown.rest]);
    const more = shown.made > maxCalls ? [`  · … and ${shown.made - maxCalls} more calls`] : [];
    const isLatest = this.latest === getKey(call);
    this.latest = undefined;
    return [...last, ...more, isLatest ? `  ${formatResult(result)}` : formatCall(call, result)];
  }

  private getOrCreate(call: ShownCall): ShownProgress {
    const shown = this.progressByCall.get(getKey(call)) ?? { rest: "", lines: 0, made: 0 };
    this.progressByCall.set(getKey(call), shown);
    return shown;
  }

  /** Which call the next lines are of, where the ones before were of another. */
  private openIfOther(call: ShownCall): string[] {
    if (this.latest === getKey(call)) return [];
    this.latest = getKey(call);
    return [formatOpenCall(call)];
  }

  private limitLines(shown: ShownProgress, lines: readonly string[]): string[] {
    const left = Math.max(0, maxLines - shown.lines);
    const fits = lines.slice(0, left).map((line) => `  │ ${clipLine(toDrawnLine(line), maxLineChars)}`);
    const cut = left > 0 && lines.length > left ? ["  │ … more is not shown"] : [];
    shown.lines += lines.length;
    return [...fits, ...cut];
  }
}

/** What is left of a line on a terminal where parts of it were drawn over. */
function toDrawnLine(line: string): string {
  return line.replace(/\r$/, "").split("\r").at(-1) ?? "";
}

function getKey({ id, name }: ShownCall): string {
  return id ?? name;
}
