import type { Entry } from "@thinkery/sdk/react";
import { createElement } from "react";
import { renderToStaticMarkup } from "react-dom/server";
import { expect, test } from "vitest";
import { EntryView } from "./entry-view.tsx";

function render(part: Partial<Entry>): string {
  const entry: Entry = {
    id: "m1",
    role: "assistant",
    stage: "done",
    text: "",
    reasoning: "",
    reasoningSize: 0,
    calls: [],
    at: 0,
    ...part,
  };
  const ignore = () => {};
  return renderToStaticMarkup(
    createElement(EntryView, {
      entry,
      sender: "You",
      agent: "hello",
      agency: "global",
      paused: false,
      ahead: 0,
      offline: false,
      blobs: "/blobs",
      onCancel: ignore,
      onUnsend: ignore,
      onEdit: ignore,
    }),
  );
}

test("a message without text shows only its calls", () => {
  for (const text of ["", " \n"]) {
    const markup = render({ text, model: "", calls: [{ id: "c1", name: "search", input: { query: "tides" } }] });
    expect(markup).toContain("search");
    expect(markup).not.toContain("formatted-text");
  }
  expect(render({ text: "Hi" })).toContain("formatted-text");
});

test("the error of an agent's code keeps its lines and reorders nothing", () => {
  const markup = render({ stage: "failed", error: { message: "no \u202e<b>\n    at onMessage (agent.ts:3:5)" } });
  expect(markup).toContain("no \ufffd&lt;b&gt;\n    at onMessage (agent.ts:3:5)");
});
