// Runs one step of a script in the foreground.
import { spawn } from "node:child_process";
import { root } from "./root.mjs";

/** Resolves with the exit code. Ctrl+C goes to the child, which exits gracefully. */
export function run(command, args, options = {}) {
  return new Promise((resolve) => {
    const child = spawn(command, args, { cwd: root, stdio: "inherit", ...options });
    const ignore = () => {};
    process.on("SIGINT", ignore);
    const forward = () => child.kill("SIGTERM");
    process.on("SIGTERM", forward);
    child.on("error", (error) => {
      console.error(error.message);
      resolve(1);
    });
    child.on("exit", (code, signal) => {
      process.off("SIGINT", ignore);
      process.off("SIGTERM", forward);
      resolve(code ?? (signal === "SIGINT" ? 130 : 1));
    });
  });
}

/** Exits the script if the command fails. */
export async function runOrExit(command, args, options) {
  const code = await run(command, args, options);
  if (code !== 0) process.exit(code);
}

/** Path of an installed package's program, without going through npm. */
export const tool = (name) => `${root}node_modules/.bin/${name}`;
