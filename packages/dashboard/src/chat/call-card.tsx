import type { Call } from "@thinkery/sdk/react";
import { useState } from "react";
import { Icon } from "../parts/icon.tsx";
import { visible } from "./blocks.ts";
import { CapabilityList } from "./call/capabilities.tsx";
import { ChangedFiles } from "./call/changed-files.tsx";
import { CodeCall, isCode, textIn } from "./call/code-call.tsx";
import { CommandCall, isCommand } from "./call/command-call.tsx";
import { LiveOutput } from "./call/live.tsx";
import { endedIn, liveIn, took, troubleWords } from "./call/outcome.ts";
import { Part, Whole } from "./call/part.tsx";
import { plain } from "./call/plain.ts";

type State = "running" | "waiting" | "done" | "failed" | "abandoned";

const words: Record<State, string> = { running: "running…", waiting: "waits for its answer", done: "done", failed: "failed", abandoned: "not finished" };

const absences: Partial<Record<State, string>> = {
  running: "No answer yet.",
  waiting: "It has begun something whose answer is reported later.",
  abandoned: "The turn ended before the tool answered.",
};

/** So many of the calls that code makes are shown: of a card that is open, and of one that is not while it runs. */
const mostShown = 20;
const mostGlimpsed = 3;

interface CallCardProps {
  call: Call;
  agency: string;
  agent: string;
  /** Its turn waits for reports. */
  paused: boolean;
  blobs: string;
}

/** A tool call in one line; opened, with what went in and what came out. What it does right now is shown either way. */
export function CallCard({ call, agency, agent, paused, blobs }: CallCardProps) {
  const [open, setOpen] = useState(false);
  const state = stateOf(call, paused);
  const { result, capabilities = [] } = call;
  const { waits, written } = liveIn(call.progress ?? "");
  const kind = kindOf(call);
  const ending = kind === "command" && result && !result.failed ? endedIn(result.output).ending : undefined;
  const glimpse = !open && (capabilities.length > 0 || waits !== undefined);
  return (
    <div className="call" data-state={state} data-kind={kind}>
      <details open={open} onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary>
          <Icon name={kind === "plain" ? "tool" : "prompt"} />
          <span className="call-name">{visible(call.name)}</span>
          <span className="call-hint">{hintOf(call.input, kind)}</span>
          {capabilities.length > 0 && <span className="call-count">{capabilities.length === 1 ? "1 call" : `${capabilities.length} calls`}</span>}
          {result?.ms !== undefined && kind !== "plain" && <span className="call-took">{took(result.ms)}</span>}
          <span className="call-state" data-tone={ending ? "bad" : undefined}>
            {result?.failed ? troubleWords(result) : (ending ?? (waits ? "waits for a sandbox" : words[state]))}
          </span>
        </summary>
        {/* What nobody looks at need not be drawn: a result may be long. */}
        {open && (
          <div className="call-body">
            {kind === "code" && <CodeCall call={call} blobs={blobs} />}
            {kind === "command" && <CommandCall call={call} blobs={blobs} />}
            {kind === "plain" && <PlainCall call={call} blobs={blobs} />}
            {capabilities.length > 0 && (
              <div>
                <p className="call-part">What it called</p>
                <CapabilityList of={capabilities} most={mostShown} />
              </div>
            )}
            {!result && !written && <p className="faint">{waits ?? absences[state]}</p>}
          </div>
        )}
      </details>
      {call.changed && <ChangedFiles agency={agency} agent={agent} changed={call.changed} open={open} />}
      {state === "running" && (glimpse || written) && (
        <div className="call-now">
          {glimpse && capabilities.length > 0 && <CapabilityList of={capabilities.slice(-mostGlimpsed)} most={mostGlimpsed} />}
          {glimpse && waits && <p className="faint">{waits}</p>}
          {written && <LiveOutput name={call.name} text={written} />}
        </div>
      )}
    </div>
  );
}

function PlainCall({ call: { input, result }, blobs }: { call: Call; blobs: string }) {
  return (
    <>
      <Part title="Input">{pretty(input)}</Part>
      {result && (
        <Part title={result.failed ? "What went wrong" : "Output"} more={<Whole result={result} blobs={blobs} />}>
          {visible(result.output) || "(nothing)"}
        </Part>
      )}
    </>
  );
}

type Kind = "code" | "command" | "plain";

function kindOf({ name, input }: Call): Kind {
  if (name === "executeCode" && isCode(input)) return "code";
  return (name === "sandbox" || name === "bash") && isCommand(input) ? "command" : "plain";
}

function stateOf({ result, abandoned }: Call, paused: boolean): State {
  if (result) return result.failed ? "failed" : "done";
  if (abandoned) return "abandoned";
  return paused ? "waiting" : "running";
}

const longestHint = 80;

/** What it is about, in a few words: the code, the command, the first text in the input, or how many things there are. */
function hintOf(input: unknown, kind: Kind): string {
  if (kind !== "plain") return kind === "code" ? clipped(textIn(input, "code")) : `$ ${clipped(textIn(input, "command"))}`;
  const given = input !== null && typeof input === "object" ? Object.entries(input) : [["", input] as const];
  const text = given.find(([, value]) => typeof value === "string")?.[1] as string | undefined;
  if (text !== undefined) return clipped(text);
  const [name, list] = given.find(([, value]) => Array.isArray(value)) ?? [];
  return Array.isArray(list) ? visible(`${name}: ${list.length}`.slice(0, longestHint)) : "";
}

function clipped(text = ""): string {
  return plain(text.trimStart().slice(0, longestHint)).replace(/\s+/g, " ");
}

function pretty(input: unknown): string {
  return visible(typeof input === "string" ? input : (JSON.stringify(input, null, 2) ?? ""));
}
