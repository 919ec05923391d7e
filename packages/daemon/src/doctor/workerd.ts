import { findWorkerdBinary } from "../host/workerd.ts";
import type { Finding } from "./finding.ts";
import { readOutput } from "./program.ts";

const name = "workerd";

export async function checkWorkerd(): Promise<Finding> {
  let binary: string;
  try {
    binary = findWorkerdBinary();
  } catch (error) {
    return { name, state: "fail", message: (error as Error).message, fix: "Run `npm install` in Thinkery's folder." };
  }
  const version = await readOutput(binary, ["--version"]);
  if (version) return { name, state: "ok", message: version };
  return {
    name,
    state: "fail",
    message: "is installed but does not run here",
    fix: "It needs glibc 2.35 or newer on Linux, macOS 13.5 or newer on a Mac; then run `npm install` again.",
  };
}
