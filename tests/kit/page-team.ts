import { mkdirSync } from "node:fs";
import type { Browser, Page } from "playwright-core";
import { onTestFinished } from "vitest";
import { createLoginLink, openBrowser, openPage, type PageSession } from "./browser.ts";
import { phone, screenshotFolder, takeScreenshots } from "./page-files.ts";
import { openTestbed, type Testbed } from "./worker/testbed.ts";

// Helpers for tests of the page's views of teams.

export interface TeamPage {
  testbed: Testbed;
  /** Opens a path of an agency as a logged-in user, until the test ends. */
  openAddress(agency: string, path: string, options?: Parameters<typeof openPage>[1]): Promise<PageSession>;
  close(): Promise<void>;
}

const desktop = { width: 1280, height: 860 };

export async function openTeamPage(scripts: Record<string, unknown>): Promise<TeamPage> {
  mkdirSync(screenshotFolder, { recursive: true });
  const [testbed, browser]: [Testbed, Browser] = await Promise.all([openTestbed({ scripts }), openBrowser()]);
  const { page, context } = await openPage(browser);
  await page.goto(await createLoginLink(testbed.host()));
  await page.getByRole("heading", { name: "Welcome" }).waitFor();
  const login = await context.storageState();
  await context.close();
  return {
    testbed,
    async openAddress(agency, path, options = {}) {
      const session = await openPage(browser, {
        viewport: desktop,
        reducedMotion: "reduce",
        storageState: login,
        ...options,
      });
      onTestFinished(() => session.context.close());
      await session.page.goto(`${testbed.host().url}/app/${agency}${path}`);
      return session;
    },
    async close() {
      await browser.close();
      await testbed.stop();
    },
  };
}

/** Pictures of a view on a desktop and on a phone, light and dark. */
export async function takeAllScreenshots(page: Page, name: string): Promise<void> {
  await takeScreenshots(page, name, ["light", "dark"]);
  await page.setViewportSize(phone);
  await takeScreenshots(page, `${name}-phone`, ["light", "dark"]);
  await page.setViewportSize(desktop);
  await page.emulateMedia({ colorScheme: "light" });
}

/** The messages of the open channel or thread, in order. */
export const readMessageIds = (page: Page) =>
  page
    .locator(".message-list")
    .first()
    .locator(".message, .message-notice")
    .evaluateAll((rows) => rows.map((row) => (row as HTMLElement).dataset.row));

export const findComposer = (page: Page) => page.getByRole("textbox", { name: /^Message to/ });
