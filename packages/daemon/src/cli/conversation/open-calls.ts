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
  /** The beginning of an unfinished line. */
  rest: string;
  lines: number;
  capabilityCalls: number;
}

/** Limits of the output shown per call. */
const maxLines = 500;
const maxCalls = 50;
const maxLineChars = 200;

/** Formats the progress of open calls, and the calls their code makes, as lines below each call. */
export class OpenCalls {
  private readonly progressByCall = new Map<string, ShownProgress>();
  /** The call that the last line belongs to. */
  private latest: string | undefined;

  addProgress(call: ShownCall, text: string): string[] {
    const shown = this.getOrCreate(call);
    const lines = (shown.rest + text).split("\n");
    // Of a line without end, such as a redrawn progress bar, only the tail is kept.
    shown.rest = lines.pop()?.slice(-4 * maxLineChars) ?? "";
    const fits = this.limitLines(shown, lines);
    return fits.length === 0 ? [] : [...this.openIfOther(call), ...fits];
  }

  addCapability(call: ShownCall, capability: Capability): string[] {
    const shown = this.getOrCreate(call);
    shown.capabilityCalls++;
    if (shown.capabilityCalls > maxCalls) return [];
    return [...this.openIfOther(call), formatCapability(capability)];
  }

  complete(call: ShownCall, result: ShownResult): string[] {
    const shown = this.progressByCall.get(getKey(call));
    if (!shown) return [formatCall(call, result)];
    this.progressByCall.delete(getKey(call));
    const last = shown.rest === "" ? [] : this.limitLines(shown, [shown.rest]);
    const more = shown.capabilityCalls > maxCalls ? [`  · … and ${shown.capabilityCalls - maxCalls} more calls`] : [];
    const isLatest = this.latest === getKey(call);
    this.latest = undefined;
    return [...last, ...more, isLatest ? `  ${formatResult(result)}` : formatCall(call, result)];
  }

  private getOrCreate(call: ShownCall): ShownProgress {
    const shown = this.progressByCall.get(getKey(call)) ?? { rest: "", lines: 0, capabilityCalls: 0 };
    this.progressByCall.set(getKey(call), shown);
    return shown;
  }

  /** Returns the header of a call if the previous lines belong to another one. */
  private openIfOther(call: ShownCall): string[] {
    if (this.latest === getKey(call)) return [];
    this.latest = getKey(call);
    return [formatOpenCall(call)];
  }

  private limitLines(shown: ShownProgress, lines: readonly string[]): string[] {
    const left = Math.max(0, maxLines - shown.lines);
    const fits = lines.slice(0, left).map((line) => `  │ ${clipLine(toDrawnLine(line), maxLineChars)}`);
    const cut = left > 0 && lines.length > left ? ["  │ … output truncated"] : [];
    shown.lines += lines.length;
    return [...fits, ...cut];
  }
}

/** Returns what a terminal shows of a line with carriage returns. */
function toDrawnLine(line: string): string {
  return line.replace(/\r$/, "").split("\r").at(-1) ?? "";
}

function getKey({ id, name }: ShownCall): string {
  return id ?? name;
}
