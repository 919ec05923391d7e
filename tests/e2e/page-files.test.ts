import { afterAll, beforeAll, expect, test } from "vitest";
import {
  findEditor,
  type FilesPage,
  hasNoOverflow,
  findLiveStatus,
  openFilesPage,
  phone,
  plan,
  findRow,
  takeScreenshots,
  source,
  readEditorText,
} from "../kit/page-files.ts";
import { findMain } from "../kit/processes.ts";
import { waitUntil } from "../kit/wait-until.ts";

// The files page: browsing, live editing together with others, history, branches and uploads.

let files: FilesPage;
const createAgent: FilesPage["createAgent"] = (...args) => files.createAgent(...args);
const openAddress: FilesPage["openAddress"] = (...args) => files.openAddress(...args);

beforeAll(async () => {
  files = await openFilesPage({ maxFileMb: 1, maxTextFileKb: 64 });
});

afterAll(() => files?.close());

test("the tree can be searched and navigated by keyboard, and every file has an address that survives a reload", async () => {
  await createAgent("ada", {
    "README.md": "# Words\n\nCounts the words of a text.\n",
    "src/words.ts": source,
    "src/deep/data.json": '{"a": [1, true]}\n',
    "notes/plan.md": plan,
  });
  const { page, pageErrors } = await openAddress("ada");
  await page.getByRole("link", { name: "Files" }).click();
  await findRow(page, "words.ts").waitFor();
  expect(
    await page.getByRole("treeitem").evaluateAll((rows) => rows.map((row) => (row as HTMLElement).dataset.path)),
  ).toEqual(["notes", "notes/plan.md", "src", "src/deep", "src/deep/data.json", "src/words.ts", "README.md"]);
  await page.getByLabel("Find files by name").fill("TS wor");
  expect(await page.getByRole("treeitem").count()).toBe(2);
  await page.getByLabel("Find files by name").fill("");
  await findRow(page, "notes").focus();
  for (const key of ["ArrowDown", "ArrowDown", "ArrowLeft"]) await page.keyboard.press(key);
  expect(await findRow(page, "src").getAttribute("aria-expanded")).toBe("false");
  for (const key of ["ArrowRight", "ArrowRight", "End", "w", "Enter"]) await page.keyboard.press(key);
  await findLiveStatus(page).waitFor();
  await waitUntil("its text", async () => (await readEditorText(page)) === source);
  expect(new URL(page.url()).pathname).toBe("/app/global/ada/files/src/words.ts");
  await page.reload();
  await findLiveStatus(page).waitFor();
  expect(await page.title()).toBe("src/words.ts · ada · Thinkery");
  await takeScreenshots(page, "files", ["light", "dark"]);
  expect(pageErrors).toEqual([]);
});

test("two users and the agent edit a file at once; each undo affects only the user's own edits, and tool calls link to the agent's version", async () => {
  const agent = await createAgent("tom", { "plan.md": plan }, [
    { call: { tool: "readFile", input: { path: "plan.md" } } },
    { call: { tool: "editFile", input: { path: "plan.md", oldString: "second", newString: "second, by the agent" } } },
    { text: "Edited." },
  ]);
  const [one, two] = await Promise.all([openAddress("tom/files/plan.md"), openAddress("tom/files/plan.md")]);
  await Promise.all([findLiveStatus(one.page).waitFor(), findLiveStatus(two.page).waitFor()]);
  await findEditor(one.page).press("Control+Home");
  await one.page.keyboard.type("One was here. ");
  await findEditor(two.page).press("Control+End");
  await two.page.keyboard.type("fourth, by two");
  const turn = await agent.send("Go.");
  expect((await turn.outcome()).status).toBe("completed");
  const all = "One was here. # Plan\n\nfirst\nsecond, by the agent\nthird\nfourth, by two";
  for (const { page } of [one, two])
    await waitUntil("the edits of all three", async () => (await readEditorText(page)) === all);
  await waitUntil("the file to have it", async () => (await agent.file("plan.md")).text() === all);
  // Each sees the name of the other at the other's cursor.
  await one.page.locator(".other-name", { hasText: "owner" }).waitFor();
  await one.page.getByRole("list", { name: "Collaborators" }).getByText("owner").waitFor();
  await takeScreenshots(one.page, "files-together", ["light"]);
  await findEditor(one.page).press("Control+z");
  const undone = all.replace("One was here. ", "");
  for (const { page } of [one, two])
    await waitUntil("only the first user's edit to be undone", async () => (await readEditorText(page)) === undone);

  await one.page.getByRole("link", { name: "Conversation" }).click();
  const card = one.page.locator(".call", { hasText: "editFile" });
  await card.locator("summary").click();
  await card.getByText("+1").waitFor();
  await takeScreenshots(one.page, "files-call", ["light"]);
  await card.getByRole("link", { name: "plan.md" }).click();
  await one.page.getByText("tom edited plan.md").waitFor();
  await one.page.locator('tr[data-kind="added"]', { hasText: "second, by the agent" }).waitFor();
  expect([one.pageErrors, two.pageErrors]).toEqual([[], []]);
});

test("edits made while the host is down are kept and applied when it is back", async () => {
  const agent = await createAgent("eve", { "notes.md": "kept\r\nwith other line ends\r\n" });
  const { page } = await openAddress("eve/files/notes.md");
  await findLiveStatus(page).waitFor();
  await page.context().setOffline(true);
  const { pid } = await waitUntil("main", () => findMain(files.host.home));
  process.kill(pid, "SIGKILL");
  await page.getByText("Offline. Your changes are kept").waitFor();
  await findEditor(page).press("Control+End");
  await page.keyboard.type("typed alone");
  await page.context().setOffline(false);
  await waitUntil(
    "the file to have it",
    async () => (await agent.file("notes.md")).text() === "kept\r\nwith other line ends\r\ntyped alone",
  );
  await findLiveStatus(page).waitFor();
});

test("a rejected edit is shown with its reason, and editing continues after reloading from the host", async () => {
  const full = "x\n".repeat(30_000);
  const agent = await createAgent("max", { "full.md": full });
  const { page, pageErrors } = await openAddress("max/files/full.md");
  await findLiveStatus(page).waitFor();
  await findEditor(page).press("Control+Home");
  await page.keyboard.insertText("y".repeat(10_000));
  await page.getByText("is too large to edit live").waitFor();
  expect(await findEditor(page).getAttribute("contenteditable")).toBe("false");
  await page.getByRole("button", { name: "Reload from host" }).click();
  await findLiveStatus(page).waitFor();
  await findEditor(page).press("Control+Home");
  await page.keyboard.type("A little more");
  await waitUntil("the file to have it", async () => (await agent.file("full.md")).text() === `A little more${full}`);
  expect(pageErrors).toEqual([]);
});

test("history shows who changed what; a revert has a preview, keeps both sides of a conflict and links to it", async () => {
  const agent = await createAgent("ida", { "plan.md": plan, "other.md": "untouched\n" }, [
    {
      call: {
        tool: "writeFile",
        input: { path: "out/numbers.txt", content: Array.from({ length: 300 }, (_, line) => `${line + 1}\n`).join("") },
      },
    },
    { call: { tool: "readFile", input: { path: "plan.md" } } },
    {
      call: {
        tool: "editFile",
        input: { path: "plan.md", oldString: "second\nthird", newString: "second, by the agent\nthird\nand one more" },
      },
    },
    { text: "Done." },
  ]);
  await (await agent.send("Go.")).outcome();
  const { page, pageErrors } = await openAddress("ida/files");
  const versions = page.locator(".version-line");
  await versions.first().waitFor();
  expect((await versions.allInnerTexts()).map((line) => line.replaceAll("\n", " "))).toEqual([
    expect.stringMatching(/^ida edited plan\.md editFile just now 3$/),
    expect.stringMatching(/^ida added out\/numbers\.txt writeFile just now 2$/),
    expect.stringMatching(/^You added other\.md and plan\.md just now 1$/),
  ]);
  await versions.nth(1).click();
  await page.getByText("Show 241 more lines").waitFor();
  await page.getByRole("link", { name: "All versions" }).click();
  await versions.first().click();
  await page.locator('tr[data-kind="added"]', { hasText: "second, by the agent" }).waitFor();
  await takeScreenshots(page, "history", ["light", "dark"]);

  // Someone changes the same line, and another one, before the revert.
  await agent.putFile("plan.md", plan.replace("second", "second, by a person").replace("# Plan", "# The plan"));
  await page.getByRole("button", { name: "Revert the whole turn" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByText(/^\d+ conflicts?$/).waitFor();
  await dialog.getByText("deleted out/numbers.txt").waitFor();
  await dialog.getByRole("figure", { name: "Current" }).getByText("second, by a person").waitFor();
  await dialog.getByRole("figure", { name: "Incoming" }).getByText("second").waitFor();
  expect(await agent.file("out/numbers.txt")).toMatchObject({ path: "out/numbers.txt" });
  await takeScreenshots(page, "revert", ["light"]);
  await dialog.getByRole("button", { name: "Revert" }).click();
  await dialog.getByText("Review them").waitFor();
  await dialog.getByRole("link", { name: /^plan\.md, line \d/ }).click();
  await findLiveStatus(page).waitFor();
  await waitUntil("the conflict markers", async () => (await readEditorText(page)).includes("<<<<<<<"));
  expect(await readEditorText(page)).toContain("# The plan");
  await waitUntil("the file to be gone from the tree", async () => (await findRow(page, "numbers.txt").count()) === 0);

  // Any file can be read as of any version.
  await page.goto(`${files.host.url}/app/global/ida/files/plan.md?version=1`);
  await page.getByText("as of version 1").waitFor();
  await waitUntil("the old text", async () => (await readEditorText(page)) === plan);
  expect(await findEditor(page).getAttribute("contenteditable")).toBe("false");
  expect(pageErrors).toEqual([]);
});

test("an empty workspace is explained; files are created, uploaded, viewed, moved and deleted, and open editors are notified", async () => {
  const agent = await createAgent("bo");
  const { page, pageErrors } = await openAddress("bo/files");
  await page.getByText("No files yet").waitFor();
  await takeScreenshots(page, "files-empty", ["light"]);
  await page.getByRole("button", { name: "New file" }).click();
  await page.getByLabel("Path").fill("../outside.md");
  await page.getByText("Invalid path").waitFor();
  await page.getByLabel("Path").fill("docs/first.md");
  await page.getByLabel("Path").press("Enter");
  await findLiveStatus(page).waitFor();
  await findEditor(page).click();
  await page.keyboard.type("Hello");
  await waitUntil("it to be stored", async () => (await agent.file("docs/first.md")).text() === "Hello");

  const png = Buffer.from(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
    "base64",
  );
  await page.locator('input[type="file"][multiple]').setInputFiles([
    { name: "dot.png", mimeType: "image/png", buffer: png },
    { name: "note.txt", mimeType: "text/plain", buffer: Buffer.from("uploaded\n") },
    { name: "huge.bin", mimeType: "application/octet-stream", buffer: Buffer.alloc(1_500_000) },
  ]);
  await page.getByText("2 files uploaded, 1 failed").waitFor();
  expect(await page.locator(".upload-error").innerText()).toContain("exceeds the limit");
  // They were uploaded to the folder of the open file.
  await findRow(page, "dot.png").click();
  await waitUntil("the picture", () =>
    page.locator(".picture img").evaluate((picture) => (picture as HTMLImageElement).naturalWidth === 1),
  );
  // Dropped files go there, too. This one is text, but too large for live editing.
  const dropped = await page.evaluateHandle(() => {
    const transfer = new DataTransfer();
    transfer.items.add(new File(["a long line of text\n".repeat(5000)], "long.txt"));
    return transfer;
  });
  await page.locator(".files").dispatchEvent("drop", { dataTransfer: dropped });
  await findRow(page, "long.txt").click();
  await page.getByText("too large to edit here").waitFor();
  await waitUntil("its text", async () => (await readEditorText(page)).startsWith("a long line of text\n"));
  await findRow(page, "dot.png").click();
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("link", { name: "Download docs/dot.png" }).click(),
  ]);
  expect(download.suggestedFilename()).toBe("dot.png");
  await page.getByRole("button", { name: "More" }).click();
  const [zip] = await Promise.all([page.waitForEvent("download"), page.getByText("Download all as zip").click()]);
  expect(zip.suggestedFilename()).toBe("bo.zip");

  await findRow(page, "first.md").click();
  await findLiveStatus(page).waitFor();
  await agent.editFiles([{ move: "docs/first.md", to: "docs/second.md" }]);
  await page.getByText("This file was moved.").waitFor();
  await findRow(page, "second.md").waitFor();
  expect(await readEditorText(page)).toBe("Hello");
  await page.getByRole("alert").getByRole("link", { name: "docs/second.md" }).click();
  await findLiveStatus(page).waitFor();
  await page.getByRole("button", { name: "Delete docs/second.md" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
  await page.getByRole("heading", { name: /^docs \d/ }).waitFor();
  await expect(agent.file("docs/second.md")).rejects.toMatchObject({ code: "not_found" });
  expect(pageErrors).toEqual([]);
});

test("on a phone the tree and the file are shown one at a time without overflow; a branch is created, merged and deleted", async () => {
  const agent = await createAgent("kim", { "src/words.ts": source, "plan.md": plan });
  const { page, pageErrors } = await openAddress("kim/files", { viewport: phone, hasTouch: true });
  await findRow(page, "words.ts").waitFor();
  expect(await page.locator(".pane").isVisible()).toBe(false);
  await page.getByRole("button", { name: "More" }).click();
  await page.getByRole("button", { name: "New branch" }).click();
  await page.getByRole("dialog").getByLabel("Name").fill("draft");
  await page.keyboard.press("Enter");
  await page.getByText("Nothing to merge.").waitFor();
  await findRow(page, "words.ts").click();
  await findLiveStatus(page).waitFor();
  expect(await page.locator(".side").isVisible()).toBe(false);
  // Focus moves to the opened file, so that screen readers continue there and not at the top of the page.
  expect(await page.evaluate(() => document.activeElement?.getAttribute("aria-label"))).toBe("src/words.ts");
  await page.getByText("on branch draft").waitFor();
  expect(await hasNoOverflow(page)).toBe(true);
  await takeScreenshots(page, "files-phone", ["light"]);
  await findEditor(page).press("Control+Home");
  await page.keyboard.type("// On a branch.\n");
  await waitUntil("the branch to have it", async () =>
    (await agent.file("src/words.ts", { branch: "draft" })).text().startsWith("// On a branch."),
  );
  expect((await agent.file("src/words.ts")).text()).toBe(source);
  await page.getByRole("link", { name: "Back to all files" }).click();
  await page.getByRole("button", { name: "Merge…" }).click();
  await page.getByRole("dialog").getByText("edited src/words.ts").waitFor();
  await page.getByRole("dialog").getByRole("button", { name: "Merge" }).click();
  await page.getByRole("dialog").getByText("Done", { exact: true }).waitFor();
  await page.getByRole("dialog").getByRole("button", { name: "Close" }).click();
  expect((await agent.file("src/words.ts")).text()).toContain("// On a branch.");
  await page.getByLabel("Branch").selectOption("draft");
  await page.getByRole("button", { name: "Delete…" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete branch" }).click();
  await waitUntil("no branch to be left", async () => (await page.getByLabel("Branch").count()) === 0);
  expect(pageErrors).toEqual([]);
});

test("a read-only user can view everything and change nothing", async () => {
  const agent = await createAgent("lee", { "plan.md": plan });
  const { page, pageErrors } = await openAddress("lee/files/plan.md");
  await findLiveStatus(page).waitFor();
  const { code } = await files.host.client.call("createLoginCode", { body: { scopes: ["read"] } });
  await Promise.all([
    page.waitForResponse(`${files.host.url}/login`),
    page.evaluate((fragment) => void (window.location.hash = fragment), `code=${code}`),
  ]);
  await page.reload();
  await page.getByText("Live · Read-only").waitFor();
  expect(await page.locator(".pane-actions button, .side-head button[aria-label='New file']").count()).toBe(0);
  await findEditor(page).focus();
  await page.keyboard.type("not mine to write");
  await agent.putFile("plan.md", `${plan}more\n`);
  await waitUntil("the edit of another user", async () => (await readEditorText(page)) === `${plan}more\n`);
  expect(pageErrors).toEqual([]);
});
