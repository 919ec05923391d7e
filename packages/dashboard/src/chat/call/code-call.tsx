import type { Call } from "@thinkery/sdk/react";
import { unfolded } from "./json.ts";
import { troubleTitle, writtenIn } from "./outcome.ts";
import { Part, Whole } from "./part.tsx";
import { plain } from "./plain.ts";
import { Source } from "./source.tsx";

/** Code that a model has written, and what came of it. */
export function CodeCall({ call: { input, result }, blobs }: { call: Call; blobs: string }) {
  const { value, console } = writtenIn(result?.output ?? "");
  const whole = result && <Whole result={result} blobs={blobs} />;
  return (
    <>
      <Source files={filesIn(input)} />
      {result?.failed && (
        <Part title={troubleTitle(result)} tone="bad" more={console ? undefined : whole}>
          {plain(value)}
        </Part>
      )}
      {result && !result.failed && (value !== "" || !console) && (
        <Part title="Result" more={console ? undefined : whole}>
          {plain(unfolded(value)) || "(nothing)"}
        </Part>
      )}
      {console && (
        <Part title="Console" more={whole}>
          {plain(console)}
        </Part>
      )}
    </>
  );
}

/** Is this the input of a tool that runs code? A model may send anything. */
export function isCode(input: unknown): boolean {
  return textIn(input, "code") !== undefined;
}

function filesIn(input: unknown): [name: string, text: string][] {
  const modules = (input as { modules?: unknown }).modules;
  const given = modules !== null && typeof modules === "object" ? Object.entries(modules) : [];
  return [["code", (textIn(input, "code") ?? "").trimEnd()], ...given.map(([name, text]): [string, string] => [name, String(text).trimEnd()])];
}

export function textIn(input: unknown, name: string): string | undefined {
  const value = input !== null && typeof input === "object" ? (input as Record<string, unknown>)[name] : undefined;
  return typeof value === "string" ? value : undefined;
}
