import { createElement } from "react";
import { renderToStaticMarkup } from "react-dom/server";
import { expect, test } from "vitest";
import { type Activity, ActivityView, describeAction, isVisible } from "./activity-view.tsx";

const render = (activity: Activity) => renderToStaticMarkup(createElement(ActivityView, { activity }));

test("an action is described as the card of such a call", () => {
  expect(describeAction({ tool: "search_knowledge", args: { limit: 3, query: "tides" } })).toEqual({
    name: "search_knowledge",
    hint: "tides",
    icon: "tool",
  });
  expect(describeAction({ tool: "readFile", args: { path: "notes.md" } })).toMatchObject({
    hint: "notes.md",
    icon: "file",
  });
});

test("an action may have any name and arguments", () => {
  const deep = Array.from({ length: 5000 }).reduce<unknown>((inner) => [inner], "x");
  for (const args of [undefined, null, 0, "text", [], [[1]], { a: { b: 1 } }, deep, { path: 1 }]) {
    for (const tool of ["", "readFile", "constructor"])
      expect(typeof describeAction({ tool, args }).hint).toBe("string");
  }
  const { name, hint } = describeAction({
    tool: `\u202eevil\n\u0007${"x".repeat(500)}`,
    args: { text: "<b>\u202e\nrm" },
  });
  expect(name).toHaveLength(80);
  expect(name + hint).not.toMatch(/[\u202e\p{Cc}]/u);
});

test("what it thinks is folded, and nothing in it becomes markup", () => {
  const markup = render({ thinking: "Is <script> ok?", action: { tool: "<img>", args: {} } });
  expect(markup).toContain('<details class="thoughts"><summary>Thinking…</summary>');
  expect(markup).toContain("Is &lt;script&gt; ok?");
  expect(markup).toContain("&lt;img&gt;");
});

test("there is nothing to see while it neither acts nor thinks", () => {
  expect(isVisible({ thinking: " \n" })).toBe(false);
  expect(isVisible({ thinking: "Hm" })).toBe(true);
  expect(isVisible({ thinking: "", action: { tool: "x", args: {} } })).toBe(true);
});
