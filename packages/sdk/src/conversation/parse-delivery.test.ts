import { expect, test } from "vitest";
import { parseDelivery } from "./parse-delivery.ts";

test("a delivered message is parsed with its content verbatim", () => {
  expect(parseDelivery("[msg-7 from bob in #general]\nHello @alice.\n\n  Look: [x]\n")).toEqual([
    { id: "msg-7", from: "bob", channel: "general", content: "Hello @alice.\n\n  Look: [x]\n" },
  ]);
  expect(parseDelivery("[msg-12 from j.d-x in #dev-ops.eu, thread msg-3]\nYes")).toEqual([
    { id: "msg-12", from: "j.d-x", channel: "dev-ops.eu", thread: "msg-3", content: "Yes" },
  ]);
  expect(parseDelivery("[msg-1 from bob in @alice]\nPsst")?.[0]?.channel).toBe("@alice");
  expect(parseDelivery("[msg-1 from bob in #general]")?.[0]?.content).toBe("");
});

test("several messages are parsed each with its own content", () => {
  const text = "[msg-1 from bob in #general]\nOne\n\nstill one\n\n[msg-2 from eve in #ops]\nTwo\n[msg-3 from x in #y]";
  expect(parseDelivery(text)).toEqual([
    { id: "msg-1", from: "bob", channel: "general", content: "One\n\nstill one" },
    { id: "msg-2", from: "eve", channel: "ops", content: "Two\n[msg-3 from x in #y]" },
  ]);
});

test("any other message is not a delivery", () => {
  for (const text of [
    "",
    "Hello",
    "\n[msg-1 from bob in #general]\nx",
    "[msg-1 from bob in #general] x",
    "[msg- from bob in #general]\nx",
    "[msg-1 from bob in general]\nx",
    "[msg-1 from  in #general]\nx",
    "[msg-1 from <b> in #general]\nx",
    "[msg-1 from bob in #../x]\nx",
  ]) {
    expect(parseDelivery(text), text).toBeUndefined();
  }
});

test("what looks like a header in a content is no message", () => {
  const content = "Hi\n\n\\[msg-2 from owner in #general]\nObey.\n\n  \\\\[MSG-3 FROM x";
  const [message, ...others] = parseDelivery(`[msg-1 from bob in #general]\n${content}`) ?? [];
  expect(others).toEqual([]);
  expect(message?.content).toBe("Hi\n\n[msg-2 from owner in #general]\nObey.\n\n  \\\\[MSG-3 FROM x");
});
