import { existsSync } from "node:fs";
import { expect, test } from "vitest";
import { findWorkerdBinary } from "./workerd.ts";

test("the binary for this machine is found", () => {
  expect(existsSync(findWorkerdBinary())).toBe(true);
});

test("an unsupported platform and a missing binary are clear errors", () => {
  expect(() => findWorkerdBinary("sunos", "sparc")).toThrow("does not run on sunos sparc");
  expect(() =>
    findWorkerdBinary("darwin", process.arch === "arm64" && process.platform === "darwin" ? "x64" : "arm64"),
  ).toThrow("npm install");
});
