import { findProgram, isProgram } from "../host/program.ts";
import type { Finding, CheckContext } from "./finding.ts";

const programNames = [
  "chromium",
  "chromium-browser",
  "google-chrome",
  "google-chrome-stable",
  "chrome",
  "microsoft-edge",
];

const macPrograms = [
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
  "/Applications/Chromium.app/Contents/MacOS/Chromium",
];

export function checkBrowser({ env }: Pick<CheckContext, "env">): Finding {
  const found = findProgram(env, ...programNames) ?? macPrograms.find(isProgram);
  if (found) return { name: "browser", state: "ok", message: found };
  return {
    name: "browser",
    state: "warn",
    message: "Chromium or Chrome not found; agents cannot open web pages",
    fix:
      process.platform === "darwin"
        ? "Install Google Chrome, or run `brew install --cask chromium`."
        : "Install one; on Debian and Ubuntu: `sudo apt-get install chromium`.",
  };
}
