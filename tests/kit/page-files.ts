import { mkdirSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { AgentHandle } from "@thinkery/sdk/client";
import type { Page } from "playwright-core";
import { onTestFinished } from "vitest";
import { createLoginLink, openBrowser, type PageSession, openPage } from "./browser.ts";
import { createHomePath, type HostProcess, startHostProcess, removeHome } from "./host-process.ts";

// Helpers for tests of the page's file view.

export const screenshotFolder = fileURLToPath(new URL("../../test-output/page/", import.meta.url));

export async function takeScreenshots(page: Page, name: string, schemes: ("light" | "dark")[]): Promise<void> {
  for (const colorScheme of schemes) {
    await page.emulateMedia({ colorScheme });
    // Painted two frames later.
    await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));
    await page.screenshot({
      path: `${screenshotFolder}${name}${schemes.length > 1 || colorScheme === "dark" ? `-${colorScheme}` : ""}.png`,
    });
  }
}

const desktop = { width: 1280, height: 860 };
export const phone = { width: 390, height: 780 };

/** A host, and a browser with a logged-in user. */
export interface FilesPage {
  host: HostProcess;
  /** Creates an agent with these files, whose model plays these steps for each message. */
  createAgent(name: string, files?: Record<string, string>, steps?: object[]): Promise<AgentHandle>;
  /** Opens a path below `/app/global/` as a logged-in user, until the test ends. */
  openAddress(address: string, options?: Parameters<typeof openPage>[1]): Promise<PageSession>;
  close(): Promise<void>;
}

/** Maximum edits per request. */
const maxEditsPerRequest = 1000;

export async function openFilesPage(workspace: object): Promise<FilesPage> {
  mkdirSync(screenshotFolder, { recursive: true });
  const home = await createHomePath();
  await mkdir(home, { recursive: true, mode: 0o700 });
  await writeFile(join(home, "config.jsonc"), JSON.stringify({ workspace }));
  const [host, browser] = await Promise.all([startHostProcess({ home }), openBrowser()]);
  const { page, context } = await openPage(browser);
  await page.goto(await createLoginLink(host));
  await page.getByRole("heading", { name: "Welcome" }).waitFor();
  const login = await context.storageState();
  await context.close();

  return {
    host,
    async createAgent(name, files = {}, steps = [{ text: "Done." }]) {
      await mkdir(join(home, "scripts"), { recursive: true });
      await writeFile(join(home, "scripts", `${name}.yaml`), JSON.stringify([{ steps }]));
      await host.client.call("createAgent", {
        params: { agency: "global" },
        body: { name, model: `scripted:${name}` },
      });
      const agent = host.client.agent(name);
      const edits = Object.entries(files).map(([path, content]) => ({ write: path, content }));
      for (let from = 0; from < edits.length; from += maxEditsPerRequest)
        await agent.editFiles(edits.slice(from, from + maxEditsPerRequest));
      return agent;
    },
    async openAddress(address, options = {}) {
      const session = await openPage(browser, {
        viewport: desktop,
        reducedMotion: "reduce",
        storageState: login,
        ...options,
      });
      onTestFinished(() => session.context.close());
      await session.page.goto(`${host.url}/app/global/${address}`);
      return session;
    },
    async close() {
      await browser.close();
      await host.stop();
      await removeHome(home);
    },
  };
}

export const findRow = (page: Page, name: string) =>
  page.getByRole("treeitem", { name: new RegExp(`^${name.replaceAll(".", "\\.")}, `) });
export const findEditor = (page: Page) => page.locator(".editor .cm-content");
/** The editor's text, without the name labels at other users' cursors. */
export const readEditorText = (page: Page) =>
  findEditor(page)
    .locator(".cm-line")
    .evaluateAll((lines) =>
      lines
        .map((line) => {
          const copy = line.cloneNode(true) as HTMLElement;
          for (const other of copy.querySelectorAll(".other-caret")) other.remove();
          return copy.textContent;
        })
        .join("\n"),
    );
export const findLiveStatus = (page: Page) => page.locator('.live-status[data-connection="open"]');
export const hasNoOverflow = (page: Page) =>
  page.evaluate(
    () =>
      document.documentElement.scrollWidth <= document.documentElement.clientWidth &&
      document.documentElement.scrollHeight <= window.innerHeight,
  );

export const source = `import { readFile } from "node:fs/promises";

/** Counts the words of a file. */
export async function words(path: string): Promise<number> {
  const text = await readFile(path, "utf8");
  return text.split(/\\s+/).filter(Boolean).length;
}
`;

export const plan = "# Plan\n\nfirst\nsecond\nthird\n";
