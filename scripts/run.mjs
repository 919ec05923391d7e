// Runs one step of a script in the foreground and stops the script when the step fails.
import { spawn } from "node:child_process";
import { root } from "./root.mjs";

/** Resolves with the exit code. Ctrl+C goes to the child, which ends in its own time. */
export function run(command, args, options = {}) {
  return new Promise((resolve) => {
    const child = spawn(command, args, { cwd: root, stdio: "inherit", ...options });
    const ignore = () => {};
    process.on("SIGINT", ignore);
    const relay = () => child.kill("SIGTERM");
    process.on("SIGTERM", relay);
    child.on("error", (error) => {
      console.error(error.message);
      resolve(1);
    });
    child.on("exit", (code, signal) => {
      process.off("SIGINT", ignore);
      process.off("SIGTERM", relay);
      resolve(code ?? (signal === "SIGINT" ? 130 : 1));
    });
  });
}

export async function must(command, args, options) {
  const code = await run(command, args, options);
  if (code !== 0) process.exit(code);
}

/** A program of an installed package, without asking npm to find it. */
export const tool = (name) => `${root}node_modules/.bin/${name}`;
