import { expect, test } from "vitest";
import { readTyped } from "./commands.ts";

test("what is typed goes to the agent, but for what begins with one slash", () => {
  expect(readTyped("  hello  ")).toEqual({ kind: "say", text: "hello", mode: "queue" });
  expect(readTyped("//etc/hosts is odd")).toEqual({ kind: "say", text: "/etc/hosts is odd", mode: "queue" });
  expect(readTyped("/steer  use the\nother one")).toEqual({ kind: "say", text: "use the\nother one", mode: "steer" });
  expect(readTyped("/interrupt stop that")).toEqual({ kind: "say", text: "stop that", mode: "interrupt" });
  expect(readTyped("   ")).toEqual({ kind: "nothing" });
  expect(readTyped("/quit")).toEqual({ kind: "do", name: "exit" });
  expect(readTyped("/clear")).toEqual({ kind: "clear", sure: false });
  expect(readTyped("/clear yes")).toEqual({ kind: "clear", sure: true });
});

test("a misspelt command is not sent to the agent", () => {
  expect(() => readTyped("/cancle")).toThrow("did you mean /cancel?");
  expect(() => readTyped("/xyzzyx")).toThrow("/help lists");
  expect(() => readTyped("/steer")).toThrow("/steer <text>");
});
