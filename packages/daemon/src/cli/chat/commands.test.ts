import { expect, test } from "vitest";
import { parseChatInput } from "./commands.ts";

test("input is sent to the agent unless it starts with a single slash", () => {
  expect(parseChatInput("  hello  ")).toEqual({ kind: "message", text: "hello", mode: "queue" });
  expect(parseChatInput("//etc/hosts is odd")).toEqual({ kind: "message", text: "/etc/hosts is odd", mode: "queue" });
  expect(parseChatInput("/steer  use the\nother one")).toEqual({
    kind: "message",
    text: "use the\nother one",
    mode: "steer",
  });
  expect(parseChatInput("/interrupt stop that")).toEqual({ kind: "message", text: "stop that", mode: "interrupt" });
  expect(parseChatInput("   ")).toEqual({ kind: "empty" });
  expect(parseChatInput("/quit")).toEqual({ kind: "command", name: "exit" });
  expect(parseChatInput("/clear")).toEqual({ kind: "clear", isConfirmed: false });
  expect(parseChatInput("/clear yes")).toEqual({ kind: "clear", isConfirmed: true });
});

test("a misspelled command is not sent to the agent", () => {
  expect(() => parseChatInput("/cancle")).toThrow("Did you mean /cancel?");
  expect(() => parseChatInput("/xyzzyx")).toThrow("/help for a list");
  expect(() => parseChatInput("/steer")).toThrow("/steer <text>");
});
