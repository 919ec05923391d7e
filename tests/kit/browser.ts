import { existsSync } from "node:fs";
import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core";
import type { HostProcess } from "./host-process.ts";

const installedPaths = [
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
];

// A browser of its own accord talks to its makers; here it talks to loopback only.
const args = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--no-first-run",
  "--disable-quic",
];

/** A real browser: the one that comes as a package, which is the same everywhere and takes half the time; where it does not run, the one this machine has. */
export async function openBrowser(): Promise<Browser> {
  const executablePath =
    process.platform === "linux" && process.arch === "x64"
      ? await findPackagedBrowser()
      : installedPaths.find((path) => existsSync(path));
  if (!executablePath) throw new Error(`These tests need Chromium or Chrome; looked for ${installedPaths.join(", ")}.`);
  return chromium.launch({ executablePath, args });
}

// Its own arguments are not used: they are made for a cloud function, and turn off what we test, such as origins.
async function findPackagedBrowser(): Promise<string> {
  const { default: packaged } = await import("@sparticuz/chromium");
  return packaged.executablePath();
}

export interface PageSession {
  page: Page;
  context: BrowserContext;
  /** What the browser complained about: violations of the CSP, errors of scripts. */
  complaints: string[];
}

/** A new person at the page, not logged in. */
export async function openPage(
  browser: Browser,
  options: Parameters<Browser["newContext"]>[0] = {},
): Promise<PageSession> {
  const context = await browser.newContext(options);
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on("pageerror", (error) => complaints.push(error.message));
  page.on("console", (message) => {
    if (message.type() === "error" && /Content Security Policy|Uncaught/.test(message.text()))
      complaints.push(message.text());
  });
  return { page, context, complaints };
}

/** The link that `thinkery open` prints. */
export async function createLoginLink(house: Pick<HostProcess, "client" | "url">): Promise<string> {
  const { code } = await house.client.call("createLoginCode");
  return `${house.url}/#code=${code}`;
}
