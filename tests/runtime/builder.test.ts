import { afterAll, beforeAll, expect, test } from "vitest";
import { type BareWorker, startBareWorker } from "../kit/workerd.ts";

let worker: BareWorker;

beforeAll(async () => {
  worker = await startBareWorker(new URL("builder.worker.ts", import.meta.url), {});
});

afterAll(() => worker?.stop());

const verdicts: [string, string | RegExp][] = [
  ["the stock one", "fine"],
  ["an empty one", "fine"],
  ["another think", "fine"],
  [
    "a tag that nothing has",
    "The blueprint “analyst”: No tool or middleware has the tag “securty”; did you mean “security”?",
  ],
  [
    "a tag where there are none",
    "The blueprint “analyst”: No tool or middleware has the tag “x”. There are no tags here.",
  ],
  [
    "two tools of one name",
    "Two tools are named “a”: “The tool a.” with the tags x, and “Another.” with y. Rename one.",
  ],
  [
    "an alias that is a name",
    "Two tools are named “a”: one is from the system, the other from the system. Rename one.",
  ],
  ["a core tool", "Two tools are named “set_title”: one is from the core, the other from the system. Rename one."],
  ["a tool without tags", "The tool “a” has no tags, so no agent could have it."],
  ["a middleware without tags", /“quiet” has no tags/],
  ["one middleware twice", "There are two middlewares “quiet”. Rename one."],
  ["the defaults twice", "There are two middlewares “planning”. Rename one."],
  ["one blueprint twice", "There are two blueprints “a”."],
  ["think twice", "There are two blueprints “think”."],
  ["a blueprint that is none", /^The blueprint “a\/b”: The blueprint is not valid at name: /],
  ["a config that does not suit", /^The blueprint “a” does not suit the middleware “strict”\. .* at config\.limit: /],
  ["a config that is missing", /^The blueprint “think” does not suit the middleware “strict”\. .* at config\.limit: /],
  ["a tool without a description", /has no description/],
  ["a tool without a name", /“no name” cannot be a tool's name/],
  ["a middleware without a name", /cannot be a middleware's name/],
];

test.each(verdicts)("a system with %s: said before anything runs", async (name, verdict) => {
  expect(await (await fetch(`${worker.url}/${encodeURIComponent(name)}`)).text()).toEqual(
    typeof verdict === "string" ? verdict : expect.stringMatching(verdict),
  );
});
