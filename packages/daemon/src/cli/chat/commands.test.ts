import { expect, test } from "vitest";
import { parseChatInput } from "./commands.ts";

test("what is typed goes to the agent, but for what begins with one slash", () => {
  expect(parseChatInput("  hello  ")).toEqual({ kind: "say", text: "hello", mode: "queue" });
  expect(parseChatInput("//etc/hosts is odd")).toEqual({ kind: "say", text: "/etc/hosts is odd", mode: "queue" });
  expect(parseChatInput("/steer  use the\nother one")).toEqual({
    kind: "say",
    text: "use the\nother one",
    mode: "steer",
  });
  expect(parseChatInput("/interrupt stop that")).toEqual({ kind: "say", text: "stop that", mode: "interrupt" });
  expect(parseChatInput("   ")).toEqual({ kind: "nothing" });
  expect(parseChatInput("/quit")).toEqual({ kind: "do", name: "exit" });
  expect(parseChatInput("/clear")).toEqual({ kind: "clear", sure: false });
  expect(parseChatInput("/clear yes")).toEqual({ kind: "clear", sure: true });
});

test("a misspelt command is not sent to the agent", () => {
  expect(() => parseChatInput("/cancle")).toThrow("did you mean /cancel?");
  expect(() => parseChatInput("/xyzzyx")).toThrow("/help lists");
  expect(() => parseChatInput("/steer")).toThrow("/steer <text>");
});
