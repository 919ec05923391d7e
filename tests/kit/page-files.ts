import { fileURLToPath } from "node:url";
import type { Page } from "playwright-core";

// What a test sees of an agent's files in the page.

export const shots = fileURLToPath(new URL("../../test-output/page/", import.meta.url));

export async function shot(page: Page, name: string, schemes: ("light" | "dark")[]): Promise<void> {
  for (const colorScheme of schemes) {
    await page.emulateMedia({ colorScheme });
    // Two frames later it has been painted so.
    await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));
    await page.screenshot({ path: `${shots}${name}${schemes.length > 1 || colorScheme === "dark" ? `-${colorScheme}` : ""}.png` });
  }
}

export const row = (page: Page, name: string) => page.getByRole("treeitem", { name: new RegExp(`^${name.replaceAll(".", "\\.")}, `) });
export const editor = (page: Page) => page.locator(".editor .cm-content");
/** What is written, without the names at the cursors of others. */
export const text = (page: Page) =>
  editor(page).locator(".cm-line").evaluateAll((lines) =>
    lines
      .map((line) => {
        const copy = line.cloneNode(true) as HTMLElement;
        for (const other of copy.querySelectorAll(".other-caret")) other.remove();
        return copy.textContent;
      })
      .join("\n"),
  );
export const live = (page: Page) => page.locator('.live-line[data-line="open"]');
export const fits = (page: Page) => page.evaluate(() => document.documentElement.scrollWidth <= document.documentElement.clientWidth && document.documentElement.scrollHeight <= window.innerHeight);

export const source = `import { readFile } from "node:fs/promises";

/** How many words a text has. */
export async function words(path: string): Promise<number> {
  const text = await readFile(path, "utf8");
  return text.split(/\\s+/).filter(Boolean).length;
}
`;


export const plan = "# Plan\n\nfirst\nsecond\nthird\n";
