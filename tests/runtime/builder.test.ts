import { afterAll, beforeAll, expect, test } from "vitest";
import { type BareWorker, startBareWorker } from "../kit/workerd.ts";

let worker: BareWorker;

beforeAll(async () => {
  worker = await startBareWorker(new URL("builder.worker.ts", import.meta.url), {});
});

afterAll(() => worker?.stop());

const cases: [string, string | RegExp][] = [
  ["the defaults", "valid"],
  ["nothing", "valid"],
  ["a replaced think", "valid"],
  ["an unknown tag", "The blueprint “analyst”: No tool or middleware has the tag “securty”. Did you mean “security”?"],
  ["a tag but no tagged tools", "The blueprint “analyst”: No tool or middleware has the tag “x”. No tags are defined."],
  [
    "two tools with the same name",
    "Two tools are named “a”: “The tool a.” with the tags x, and “Another.” with y. Rename one.",
  ],
  [
    "an alias that is another tool's name",
    "Two tools are named “a”: one is from the system, the other from the system. Rename one.",
  ],
  [
    "the name of a core tool",
    "Two tools are named “set_title”: one is from the core, the other from the system. Rename one.",
  ],
  ["a tool without tags", "The tool “a” has no tags, so no agent could use it. Pass at least one."],
  ["a middleware without tags", /“quiet” has no tags/],
  ["the same middleware twice", "Two middlewares are named “quiet”. Rename one."],
  ["the defaults twice", "Two middlewares are named “planning”. Rename one."],
  ["the same blueprint twice", "Two blueprints are named “a”. Rename one."],
  ["think twice", "Two blueprints are named “think”. Rename one."],
  ["an invalid blueprint", /^The blueprint “a\/b”: Invalid `name` in the blueprint: /],
  [
    "an invalid config",
    /^The config of the blueprint “a” is not valid for the middleware “strict”\. Invalid `config\.limit` in the blueprint: /,
  ],
  [
    "a missing config",
    /^The config of the blueprint “think” is not valid for the middleware “strict”\. Invalid `config\.limit` in the blueprint: /,
  ],
  ["a tool without a description", /has no description/],
  ["an invalid tool name", /Invalid tool name “no name”/],
  ["an empty middleware name", /Invalid middleware name/],
];

test.each(cases)("a system with %s is validated when it is built", async (name, expected) => {
  expect(await (await fetch(`${worker.url}/${encodeURIComponent(name)}`)).text()).toEqual(
    typeof expected === "string" ? expected : expect.stringMatching(expected),
  );
});
