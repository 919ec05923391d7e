import type { Call } from "@thinkery/sdk/react";
import { type ReactNode, useState } from "react";
import { Icon } from "../parts/icon.tsx";
import { bytes } from "../parts/amount.ts";
import { visible } from "./blocks.ts";

type State = "running" | "waiting" | "done" | "failed" | "abandoned";

const words: Record<State, string> = { running: "running…", waiting: "waits for its answer", done: "done", failed: "failed", abandoned: "not finished" };

const absences: Partial<Record<State, string>> = {
  running: "No answer yet.",
  waiting: "It has begun something whose answer is reported later.",
  abandoned: "The turn ended before the tool answered.",
};

/** A tool call in one line; opened, with what went in and what came out. */
export function CallCard({ call, paused, blobs }: { call: Call; paused: boolean; blobs: string }) {
  const [open, setOpen] = useState(false);
  const state = stateOf(call, paused);
  return (
    <details className="call" data-state={state} open={open} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        <Icon name="tool" />
        <span className="call-name">{call.name}</span>
        <span className="call-hint">{hintOf(call.input)}</span>
        <span className="call-state">{words[state]}</span>
      </summary>
      {/* What nobody looks at need not be drawn: a result may be long. */}
      {open && (
        <div className="call-body">
          <Part title="Input">{pretty(call.input)}</Part>
          {call.result ? (
            <Part title={call.result.failed ? "What went wrong" : "Output"} more={<Whole call={call} blobs={blobs} />}>
              {visible(call.result.output) || "(nothing)"}
            </Part>
          ) : (
            <p className="faint">{absences[state]}</p>
          )}
        </div>
      )}
    </details>
  );
}

function Part({ title, more, children }: { title: string; more?: ReactNode; children: string }) {
  return (
    <div>
      <p className="call-part">{title}</p>
      <pre className="text" tabIndex={0}>
        {children}
      </pre>
      {more}
    </div>
  );
}

// As a download, never as a page: what a tool brought home may be anything.
function Whole({ call: { result }, blobs }: { call: Call; blobs: string }) {
  if (!result?.blob) return null;
  return (
    <a href={`${blobs}/${encodeURIComponent(result.blob)}`} download>
      Download all of it ({bytes(result.size)})
    </a>
  );
}

function stateOf({ result, abandoned }: Call, paused: boolean): State {
  if (result) return result.failed ? "failed" : "done";
  if (abandoned) return "abandoned";
  return paused ? "waiting" : "running";
}

const longestHint = 80;

/** What it is about, in a few words: the first text in the input, or how many things there are. */
function hintOf(input: unknown): string {
  const given = input !== null && typeof input === "object" ? Object.entries(input) : [["", input] as const];
  const text = given.find(([, value]) => typeof value === "string")?.[1] as string | undefined;
  if (text !== undefined) return visible(text.slice(0, longestHint).replaceAll("\n", " "));
  const [name, list] = given.find(([, value]) => Array.isArray(value)) ?? [];
  return Array.isArray(list) ? visible(`${name}: ${list.length}`.slice(0, longestHint)) : "";
}

function pretty(input: unknown): string {
  return visible(typeof input === "string" ? input : (JSON.stringify(input, null, 2) ?? ""));
}
