import { spawn } from "node:child_process";
import type { Environment } from "../config/environment.ts";

const openers: Partial<Record<NodeJS.Platform, [program: string, ...args: string[]]>> = {
  darwin: ["open"],
  linux: ["xdg-open"],
  win32: ["rundll32", "url.dll,FileProtocolHandler"],
};

/** Returns whether a browser can be shown here. */
export function hasDisplay(env: Environment, platform: NodeJS.Platform = process.platform): boolean {
  if (env.SSH_CONNECTION || env.CI) return false;
  return platform === "linux" ? Boolean(env.DISPLAY || env.WAYLAND_DISPLAY) : true;
}

/** Opens the URL in the browser; returns false if none can be started. */
export function openBrowser(url: string): Promise<boolean> {
  const [program, ...args] = openers[process.platform] ?? [];
  if (!program) return Promise.resolve(false);
  return new Promise((resolve) => {
    const child = spawn(program, [...args, url], { detached: true, stdio: "ignore" });
    child.once("error", () => resolve(false));
    child.once("spawn", () => {
      child.unref();
      resolve(true);
    });
  });
}
