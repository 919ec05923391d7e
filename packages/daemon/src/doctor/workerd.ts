import { findWorkerdBinary } from "../host/workerd.ts";
import type { Finding } from "./finding.ts";
import { readOutput } from "./program.ts";

const name = "workerd";

export async function checkWorkerd(): Promise<Finding> {
  let binary: string;
  try {
    binary = findWorkerdBinary();
  } catch (error) {
    return { name, state: "fail", message: (error as Error).message, fix: "Run `npm install` in the Thinkery folder." };
  }
  const version = await readOutput(binary, ["--version"]);
  if (version) return { name, state: "ok", message: version };
  return {
    name,
    state: "fail",
    message: "installed, but does not run on this machine",
    fix: "It requires glibc 2.35 or newer on Linux, or macOS 13.5 or newer. Then run `npm install` again.",
  };
}
