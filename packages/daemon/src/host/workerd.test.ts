import { existsSync } from "node:fs";
import { expect, test } from "vitest";
import { findWorkerdBinary } from "./workerd.ts";

test("the binary for this machine is found", () => {
  expect(existsSync(findWorkerdBinary())).toBe(true);
});

test("a machine workerd is not made for, or a binary that is not installed, is one clear sentence", () => {
  expect(() => findWorkerdBinary("sunos", "sparc")).toThrow("does not run on sunos sparc");
  expect(() =>
    findWorkerdBinary("darwin", process.arch === "arm64" && process.platform === "darwin" ? "x64" : "arm64"),
  ).toThrow("npm install");
});
