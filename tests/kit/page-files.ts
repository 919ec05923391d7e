import { mkdirSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { AgentHandle } from "@thinkery/sdk/client";
import type { Page } from "playwright-core";
import { onTestFinished } from "vitest";
import { createLoginLink, openBrowser, type PageSession, openPage } from "./browser.ts";
import { createHomePath, type HostProcess, startHostProcess, removeHome } from "./host-process.ts";

// What a test sees of an agent's files in the page.

export const screenshotFolder = fileURLToPath(new URL("../../test-output/page/", import.meta.url));

export async function takeScreenshots(page: Page, name: string, schemes: ("light" | "dark")[]): Promise<void> {
  for (const colorScheme of schemes) {
    await page.emulateMedia({ colorScheme });
    // Two frames later it has been painted so.
    await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));
    await page.screenshot({
      path: `${screenshotFolder}${name}${schemes.length > 1 || colorScheme === "dark" ? `-${colorScheme}` : ""}.png`,
    });
  }
}

const desk = { width: 1280, height: 860 };
export const phone = { width: 390, height: 780 };

/** A host, and a browser in which somebody has logged in. */
export interface FilesPage {
  house: HostProcess;
  /** An agent with these files, and with this to do when it is spoken to. */
  createAgent(name: string, files?: Record<string, string>, steps?: object[]): Promise<AgentHandle>;
  /** Somebody who is logged in, at this address of the agency, until the test ends. */
  openAddress(address: string, options?: Parameters<typeof openPage>[1]): Promise<PageSession>;
  close(): Promise<void>;
}

/** More edits than this are not taken at once. */
const maxEdits = 1000;

export async function openFilesPage(workspace: object): Promise<FilesPage> {
  mkdirSync(screenshotFolder, { recursive: true });
  const home = await createHomePath();
  await mkdir(home, { recursive: true, mode: 0o700 });
  await writeFile(join(home, "config.jsonc"), JSON.stringify({ workspace }));
  const [house, browser] = await Promise.all([startHostProcess({ home }), openBrowser()]);
  const { page, context } = await openPage(browser);
  await page.goto(await createLoginLink(house));
  await page.getByRole("heading", { name: "Welcome" }).waitFor();
  // What a browser keeps of somebody who has logged in.
  const login = await context.storageState();
  await context.close();

  return {
    house,
    async createAgent(name, files = {}, steps = [{ text: "Done." }]) {
      await mkdir(join(home, "scripts"), { recursive: true });
      await writeFile(join(home, "scripts", `${name}.yaml`), JSON.stringify([{ steps }]));
      await house.client.call("createAgent", {
        params: { agency: "global" },
        body: { name, model: `scripted:${name}` },
      });
      const agent = house.client.agent(name);
      const edits = Object.entries(files).map(([path, content]) => ({ write: path, content }));
      for (let from = 0; from < edits.length; from += maxEdits)
        await agent.editFiles(edits.slice(from, from + maxEdits));
      return agent;
    },
    async openAddress(address, options = {}) {
      const visited = await openPage(browser, {
        viewport: desk,
        reducedMotion: "reduce",
        storageState: login,
        ...options,
      });
      onTestFinished(() => visited.context.close());
      await visited.page.goto(`${house.url}/app/global/${address}`);
      return visited;
    },
    async close() {
      await browser.close();
      await house.stop();
      await removeHome(home);
    },
  };
}

export const findRow = (page: Page, name: string) =>
  page.getByRole("treeitem", { name: new RegExp(`^${name.replaceAll(".", "\\.")}, `) });
export const findEditor = (page: Page) => page.locator(".editor .cm-content");
/** What is written, without the names at the cursors of others. */
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
export const findLiveStatus = (page: Page) => page.locator('.live-line[data-line="open"]');
export const hasNoOverflow = (page: Page) =>
  page.evaluate(
    () =>
      document.documentElement.scrollWidth <= document.documentElement.clientWidth &&
      document.documentElement.scrollHeight <= window.innerHeight,
  );

export const source = `import { readFile } from "node:fs/promises";

/** How many words a text has. */
export async function words(path: string): Promise<number> {
  const text = await readFile(path, "utf8");
  return text.split(/\\s+/).filter(Boolean).length;
}
`;

export const plan = "# Plan\n\nfirst\nsecond\nthird\n";
