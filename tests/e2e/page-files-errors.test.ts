import { afterAll, beforeAll, expect, test } from "vitest";
import {
  findEditor,
  type FilesPage,
  findLiveStatus,
  openFilesPage,
  findRow,
  readEditorText,
} from "../kit/page-files.ts";
import { findMain } from "../kit/processes.ts";
import { waitUntil } from "../kit/wait-until.ts";

// The files page under difficult conditions: a host that dies, a branch that is deleted, failed uploads, many files.

let files: FilesPage;

beforeAll(async () => {
  files = await openFilesPage({ maxFileMb: 1 });
});

afterAll(() => files?.close());

test("edits that the host received but never stored are sent again, even after leaving the editor", async () => {
  const agent = await files.createAgent("eve", { "notes.md": "kept\n" });
  const { page, context } = await files.openAddress("eve/files/notes.md");
  await page.clock.install();
  await page.reload();
  await findLiveStatus(page).waitFor();
  await findEditor(page).press("Control+End");
  const { pid } = await waitUntil("main", () => findMain(files.host.home));
  // It still receives data, but no longer processes it.
  process.kill(pid, "SIGSTOP");
  await page.keyboard.type("typed to nobody");
  await page.clock.fastForward(3_000);
  await page.getByText("Not saved yet").waitFor();
  await context.setOffline(true);
  process.kill(pid, "SIGKILL");
  await page.getByRole("link", { name: "Conversation" }).click();
  await page.getByPlaceholder("Message eve").waitFor();
  // Longer than a connection is kept for a page that returns.
  await page.clock.fastForward(5_000);
  await context.setOffline(false);
  await waitUntil("the file to have it", async () => (await agent.file("notes.md")).text() === "kept\ntyped to nobody");
});

test("typing creates one version even while file lists and histories are open", async () => {
  const agent = await files.createAgent("ian", { "a.md": "one\n" });
  const [{ page }, other] = await Promise.all([files.openAddress("ian/files/a.md"), files.openAddress("ian/history")]);
  await Promise.all([findLiveStatus(page).waitFor(), other.page.locator(".version-line").waitFor()]);
  await findEditor(page).press("Control+End");
  // Long enough for an open list to refresh several times.
  await page.keyboard.type("two, word by word", { delay: 100 });
  await waitUntil("the file to have it", async () => (await agent.file("a.md")).text() === "one\ntwo, word by word");
  const { versions } = await agent.versions();
  expect(versions.map(({ id }) => id)).toEqual([2, 1]);
});

test("an open file of a branch that is deleted says that the branch was removed", async () => {
  const agent = await files.createAgent("ben", { "a.md": "one\n" });
  await agent.createBranch({ name: "draft" });
  const { page, pageErrors } = await files.openAddress("ben/files/a.md?branch=draft");
  await findLiveStatus(page).waitFor();
  await agent.deleteBranch("draft");
  await page.getByText("The branch “draft” was removed.").waitFor();
  expect(await page.getByText("was rejected").count()).toBe(0);
  expect(await readEditorText(page)).toBe("one\n");
  await page.getByText("List may be out of date").waitFor();
  await page.getByRole("link", { name: "the files on main" }).click();
  await findRow(page, "a.md").waitFor();
  await waitUntil("no branch to be left", async () => (await page.getByLabel("Branch").count()) === 0);
  expect(pageErrors).toEqual([]);
});

test("an upload is one version, an invalid name does not block the other files, and a zip is unpacked", async () => {
  const agent = await files.createAgent("zoe", { "app/README.md": "here\n" });
  const { page, pageErrors } = await files.openAddress("zoe/files");
  await findRow(page, "README.md").waitFor();
  const drop = (names: string[]) =>
    page.locator(".files").evaluate((area, names) => {
      const dataTransfer = new DataTransfer();
      for (const name of names) dataTransfer.items.add(new File([`in ${name}\n`], name));
      area.dispatchEvent(new DragEvent("drop", { bubbles: true, cancelable: true, dataTransfer }));
    }, names);
  await drop(["one.txt", "two.txt", "con.txt", "drei ü.txt"]);
  await page.getByText("3 files uploaded, 1 failed").waitFor();
  const { versions } = await agent.versions();
  expect(versions.map(({ changes }) => changes.map(({ path }) => path))).toEqual([
    ["drei ü.txt", "one.txt", "two.txt"],
    ["app/README.md"],
  ]);
  expect((await agent.file("drei ü.txt")).text()).toBe("in drei ü.txt\n");

  // The host refuses a batch with a name that differs from an existing one only in case; the page retries file by file.
  await page.getByRole("button", { name: "Close" }).click();
  await drop(["TWO.txt", "four.txt"]);
  await page.getByText("1 file uploaded, 1 failed").waitFor();
  expect(await page.locator(".upload-error").innerText()).toContain("only in case");
  expect((await agent.file("four.txt")).text()).toBe("in four.txt\n");

  const zip = new Response(await agent.archive({ under: "app" })).arrayBuffer();
  await agent.deleteFile("app/README.md");
  await page
    .locator('input[accept=".zip"]')
    .setInputFiles({ name: "app.zip", mimeType: "application/zip", buffer: Buffer.from(await zip) });
  await waitUntil("the unpacked file", async () => (await agent.file("app/README.md")).text() === "here\n");

  // Dropping a file outside the drop zone does not navigate away.
  const prevented = await page.locator(".chat-head").evaluate((head) => {
    const dataTransfer = new DataTransfer();
    dataTransfer.items.add(new File(["x"], "x.html"));
    return !head.dispatchEvent(new DragEvent("drop", { bubbles: true, cancelable: true, dataTransfer }));
  });
  expect(prevented).toBe(true);
  expect(pageErrors).toEqual([]);
});

test("a long file list is reloaded only after it changed, and a large folder moves as one version", async () => {
  const deep = "deep/a/b/c/d/e/last.md";
  const agent = await files.createAgent("max", {
    [deep]: "# Deep\n",
    ...Object.fromEntries(Array.from({ length: 1010 }, (_, index) => [`many/f${index}.txt`, `${index}`])),
  });
  const { page, pageErrors } = await files.openAddress("max/files/many");
  const findPathRow = (path: string) => page.locator(`.file-row[data-path="${path}"]`);
  await page.getByRole("button", { name: "Rename or move many" }).click();
  await page.getByLabel("Path").fill("lots");
  await page.getByLabel("Path").press("Enter");
  await page.locator(".crumbs", { hasText: "lots1,010 files" }).waitFor();
  const [latest] = (await agent.versions({ limit: 1 })).versions;
  expect([latest?.changes[0], (latest?.changes.length ?? 0) + (latest?.more ?? 0)]).toEqual([
    { path: "lots/f0.txt", kind: "move", from: "many/f0.txt" },
    1010,
  ]);

  const queries: string[] = [];
  page.on(
    "request",
    (request) => void (/\/files\?/.test(request.url()) && queries.push(new URL(request.url()).search)),
  );
  await page.locator(".folder-list a", { hasText: "f7.txt" }).first().click();
  await findLiveStatus(page).waitFor();
  await waitUntil("the list to be requested", () => queries.length > 0);
  await agent.putFile("new.md", "new\n");
  await findPathRow("new.md").waitFor();
  expect(queries[0]).toBe("?limit=1");
  expect(queries.filter((query) => query.includes("after=")).length).toBe(2);

  // The file of an address is scrolled into view, however many are above it.
  await page.goto(`${files.host.url}/app/global/max/files/lots/f999.txt`);
  await waitUntil("its row to be visible", () =>
    findPathRow("lots/f999.txt").evaluate((row) => row.getBoundingClientRect().bottom <= window.innerHeight),
  );
  await page.getByLabel("Find files by name").fill("last");
  await findPathRow(deep).click();
  await page.getByText("# Deep").waitFor();
  expect(await page.locator(".crumbs").innerText()).toMatch(/^deep\s+\/\s+…\s+\/\s+d\s+\/\s+e\s+\/\s+last\.md$/);
  expect(pageErrors).toEqual([]);
});
