import { existsSync } from "node:fs";
import { expect, test } from "vitest";
import { workerdBinary } from "./workerd.ts";

test("the binary for this machine is found", () => {
  expect(existsSync(workerdBinary())).toBe(true);
});

test("a machine workerd is not made for, or a binary that is not installed, is one clear sentence", () => {
  expect(() => workerdBinary("sunos", "sparc")).toThrow("does not run on sunos sparc");
  expect(() => workerdBinary("darwin", process.arch === "arm64" && process.platform === "darwin" ? "x64" : "arm64")).toThrow("npm install");
});
