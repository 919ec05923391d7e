import { existsSync } from "node:fs";
import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core";
import type { HostProcess } from "./host-process.ts";

const installedPaths = [
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
];

// Keeps the browser from contacting its vendor: tests use loopback only.
const args = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--no-first-run",
  "--disable-quic",
];

/**
 * Starts a real browser: the packaged one, which is the same everywhere and takes half the time, or the installed one
 * on platforms where the package does not run.
 */
export async function openBrowser(): Promise<Browser> {
  const executablePath =
    process.platform === "linux" && process.arch === "x64"
      ? await findPackagedBrowser()
      : installedPaths.find((path) => existsSync(path));
  if (!executablePath) throw new Error(`These tests need Chromium or Chrome; looked for ${installedPaths.join(", ")}.`);
  return chromium.launch({ executablePath, args });
}

// The package's own arguments are not used: they are made for cloud functions and turn off what we test, such as
// origins.
async function findPackagedBrowser(): Promise<string> {
  const { default: packaged } = await import("@sparticuz/chromium");
  return packaged.executablePath();
}

export interface PageSession {
  page: Page;
  context: BrowserContext;
  /** CSP violations and script errors. */
  pageErrors: string[];
}

/** Opens a page in a new browser context, not logged in. */
export async function openPage(
  browser: Browser,
  options: Parameters<Browser["newContext"]>[0] = {},
): Promise<PageSession> {
  const context = await browser.newContext(options);
  const page = await context.newPage();
  const pageErrors: string[] = [];
  page.on("pageerror", (error) => pageErrors.push(error.message));
  page.on("console", (message) => {
    if (message.type() === "error" && /Content Security Policy|Uncaught/.test(message.text()))
      pageErrors.push(message.text());
  });
  return { page, context, pageErrors };
}

/** The link that `thinkery open` prints. */
export async function createLoginLink(host: Pick<HostProcess, "client" | "url">): Promise<string> {
  const { code } = await host.client.call("createLoginCode");
  return `${host.url}/#code=${code}`;
}
