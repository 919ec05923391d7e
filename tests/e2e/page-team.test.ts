import { afterAll, beforeAll, expect, test } from "vitest";
import { findEditor, findLiveStatus, hasNoOverflow, phone, readEditorText } from "../kit/page-files.ts";
import { findComposer, openTeamPage, readMessageIds, takeAllScreenshots, type TeamPage } from "../kit/page-team.ts";
import { getRepeatCount } from "../kit/sample.ts";
import { openTeam } from "../kit/team.ts";
import { waitUntil } from "../kit/wait-until.ts";

// The page's views of teams, with agents that answer each other on a real host.

const send = (input: object) => ({ call: { tool: "channel_send", input } });

let pages: TeamPage;

beforeAll(async () => {
  pages = await openTeamPage({
    parrot: [{ steps: [{ text: "Heard." }] }],
    answerer: [
      { steps: [send({ message: "@owner, here is `the answer`:\n\n```ts\nreturn 42;\n```" }), { text: "Done." }] },
    ],
    whisperer: [{ steps: [send({ message: "Only for you.", channel: "@owner" }), { text: "Done." }] }],
    broken: [{ steps: [{ fail: 401 }] }],
    lead: [
      { when: "from worker", steps: [{ text: "The review is **done**: no defects." }] },
      {
        when: "review",
        steps: [
          { call: { tool: "my_status_set", input: { status: "splitting the work", task: "the review" } } },
          { call: { tool: "team_task_create", input: { title: "Read the code" } } },
          { call: { tool: "team_doc_write", input: { name: "plan.md", content: "# Plan\n\nRead the code.\n" } } },
          send({ message: "@worker, read the code." }),
          { text: "Delegated." },
        ],
      },
    ],
    worker: [
      {
        steps: [
          { call: { tool: "write_todos", input: { todos: [] } } },
          send({ message: "@lead, I have read it." }),
          { text: "Read." },
        ],
      },
    ],
    slow: [{ when: "goes on", steps: [{ text: "Done." }] }, { steps: [{ wait: 600_000 }, { text: "Late." }] }],
  });
}, 60_000);

afterAll(() => pages?.close());

test("a person mentions an agent by keyboard, sees its answer come, and follows the message to the agent and back", async () => {
  const team = await openTeam(pages.testbed, { alice: "answerer", "code-reviewer": "parrot" });
  const { page, pageErrors } = await pages.openAddress(team.id, "");
  await page.getByRole("link", { name: "Channels" }).click();
  await page.getByText("No messages yet").waitFor();
  await takeAllScreenshots(page, "team-channels-empty");

  await findComposer(page).pressSequentially("Hello @rev");
  const menu = page.getByRole("listbox", { name: "Agents" });
  await menu.getByRole("option", { name: "code-reviewer" }).waitFor();
  await page.keyboard.press("Escape");
  expect(await menu.count()).toBe(0);
  await findComposer(page).fill("");
  await findComposer(page).pressSequentially("Hello @");
  await menu.getByRole("option", { name: "alice" }).waitFor();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowUp");
  await page.keyboard.press("Tab");
  await page.getByText("alice will handle it.").waitFor();
  await page.keyboard.type("what is it?");
  await page.keyboard.press("Enter");

  await page.getByRole("log").getByText("return 42;").waitFor();
  expect(await readMessageIds(page)).toEqual(["msg-1", "msg-2"]);
  expect((await team.read())[0]).toMatchObject({ content: "Hello @alice what is it?", to: ["alice"] });
  // Announced to those who cannot see it.
  await page.getByRole("status").getByText("alice: @owner, here is").waitFor({ state: "attached" });
  await takeAllScreenshots(page, "team-channels");

  await page.locator(".mention", { hasText: "@alice" }).click();
  await page.getByText("Done.").waitFor();
  expect(new URL(page.url()).pathname).toBe(`/app/${team.id}/alice`);
  await page.locator(".delivery").getByText("Hello @alice what is it?").waitFor();
  await page.locator(".call", { hasText: "channel_send" }).locator("summary").click();
  await takeAllScreenshots(page, "team-delivery");
  await page.getByRole("link", { name: "msg-2 in general" }).click();
  await page.locator('[data-row="msg-2"][data-target]').waitFor();
  expect(new URL(page.url()).pathname).toBe(`/app/${team.id}/~channels/general/msg-2`);
  expect(await page.title()).toBe(`#general · ${team.id} · Thinkery`);
  expect(pageErrors).toEqual([]);
});

test("a thread is beside its channel, and its replies are counted", async () => {
  const team = await openTeam(pages.testbed, { alice: "parrot" });
  await team.post("Shall we?");
  const { page, pageErrors } = await pages.openAddress(team.id, "/~channels/general");
  await page.locator(".message").hover();
  await page.getByRole("link", { name: "Reply to owner in a thread" }).click();
  const thread = page.getByRole("complementary", { name: "Thread" });
  await thread.getByRole("textbox").fill("We shall.");
  await page.keyboard.press("Enter");
  await page.getByRole("link", { name: "1 reply" }).waitFor();
  await thread.locator(".message", { hasText: "We shall." }).waitFor();
  await team.post("From elsewhere", { thread: "msg-1" });
  await page.getByRole("link", { name: "2 replies" }).waitFor();
  await thread.locator(".message", { hasText: "From elsewhere" }).waitFor();
  await takeAllScreenshots(page, "team-thread");
  await thread.getByRole("textbox").press("Escape");
  await thread.waitFor({ state: "detached" });
  expect((await team.read()).map(({ thread: root }) => root)).toEqual([undefined, "msg-1", "msg-1"]);
  expect(pageErrors).toEqual([]);
});

test("unread channels are marked, also after a reload, until they are read", async () => {
  const team = await openTeam(pages.testbed, { alice: "whisperer" });
  await team.api("/channels", "POST", { name: "news", description: "What is new" });
  const { page } = await pages.openAddress(team.id, "/~channels/general");
  await page.getByRole("link", { name: "news" }).waitFor();
  await team.api("/channels/news/messages", "POST", { content: "One" });
  await team.api("/channels/news/messages", "POST", { content: "Two" });
  await page.getByRole("link", { name: "news 2 unread" }).waitFor();
  await page.reload();
  await page.getByRole("link", { name: "news 2 unread" }).click();
  await page.getByText("Two", { exact: true }).waitFor();
  await page.getByRole("link", { name: "news 2 unread" }).waitFor({ state: "detached" });
  await findComposer(page).fill("@alice, and?");
  await page.keyboard.press("Enter");
  await page.getByRole("link", { name: "alice 1 unread" }).click();
  await page.getByText("Only for you.").waitFor();
  await findComposer(page).fill("Thank you");
  await page.keyboard.press("Enter");
  await waitUntil("alice to get it", async () => (await team.inbox("alice")).length === 2);
});

test("a long channel is read page by page, and only the pages around the reader are in the document", async () => {
  const count = getRepeatCount("page-messages", { sample: 600, full: 10_000 });
  const team = await openTeam(pages.testbed, { alice: "parrot" });
  for (let first = 1; first <= count; first += 20)
    await Promise.all(
      Array.from({ length: Math.min(20, count - first + 1) }, (_, index) => team.post(`Line ${first + index}`)),
    );
  const { page } = await pages.openAddress(team.id, "/~channels/general");
  await page.locator(`[data-row="msg-${count}"]`).waitFor();
  const log = page.getByRole("log");
  await log.focus();
  await waitUntil("the beginning", async () => {
    await log.evaluate((element) => void (element.scrollTop = 0));
    return page.getByText("The beginning of this channel").isVisible();
  });
  const ids = await readMessageIds(page);
  expect(ids[0]).toBe("msg-1");
  expect(ids.length).toBeLessThanOrEqual(400);
  expect(ids).toEqual(ids.map((_, index) => `msg-${index + 1}`));

  // What comes while the reader is far away is not shown before the end is.
  await team.post("The latest");
  expect(await page.getByText("The latest").count()).toBe(0);
  await page.getByRole("button", { name: "Latest" }).click();
  await page.getByText("The latest", { exact: true }).waitFor();
  await page.getByRole("button", { name: "Latest" }).waitFor({ state: "detached" });

  // The reader stays where they are while pages are added above.
  await page.goto(`${pages.testbed.host().url}/app/${team.id}/~channels/general/msg-${count - 200}`);
  const target = page.locator("[data-target]");
  await target.waitFor();
  const top = () => target.evaluate((element) => Math.round(element.getBoundingClientRect().top));
  const before = await waitUntil("it to rest", async () => {
    const one = await top();
    await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));
    return (await top()) === one ? one : undefined;
  });
  await team.post("Another");
  await page.waitForTimeout(0);
  expect(Math.abs((await top()) - before)).toBeLessThanOrEqual(1);
});

test("a message that cannot be sent stays with its reason, and is sent once when the host is back", async () => {
  const team = await openTeam(pages.testbed, { alice: "parrot" });
  const { page } = await pages.openAddress(team.id, "/~channels/general");
  await page.getByText("No messages yet").waitFor();
  const isPosted = (text: string) => page.locator(".message[data-row]", { hasText: text }).waitFor();
  await page.context().setOffline(true);
  await findComposer(page).fill("Are you there?");
  await page.keyboard.press("Enter");
  await page.getByText("It will be sent when the host is back.").waitFor();
  await team.post("Missed meanwhile");
  await page.context().setOffline(false);
  await page.getByRole("button", { name: "Send again" }).click();
  await isPosted("Are you there?");
  await isPosted("Missed meanwhile");

  await pages.testbed.stopHost();
  await findComposer(page).fill("And now?");
  await page.keyboard.press("Enter");
  await page.getByText("It will be sent when the host is back.").waitFor();
  await pages.testbed.startHost();
  await isPosted("And now?");
  expect((await team.read()).map(({ content }) => content)).toEqual(["Missed meanwhile", "Are you there?", "And now?"]);
  expect(await readMessageIds(page)).toEqual(["msg-1", "msg-2", "msg-3"]);
});

test("hostile messages are text, and mentions of nobody are pointed out", async () => {
  const team = await openTeam(pages.testbed, { alice: "parrot" });
  const payloads = [
    "<img src=x onerror=window.pwned=1>",
    "<script>window.pwned=1</script>",
    "[x](javascript:window.pwned=1) ![y](http://127.0.0.1:1/x.png)",
    "`<svg onload=window.pwned=1>` \u202egnp.exe",
    "```html\n<iframe srcdoc='<script>parent.pwned=1</script>'></iframe>\n```",
    `@${"a".repeat(70)} @alice<b onclick=window.pwned=1>`,
  ];
  for (const payload of payloads) await team.post(payload);
  await team.api("/channels", "POST", { name: "odd", description: "<img src=x onerror=window.pwned=1>" });
  const { page, pageErrors } = await pages.openAddress(team.id, "/~channels/general");
  await page.getByText("<script>window.pwned=1</script>").waitFor();
  await findComposer(page).fill("@alcie, look");
  await page.keyboard.press("Enter");
  await page.getByText("Did you mean @alice?").waitFor();
  expect(await page.evaluate(() => (window as { pwned?: number }).pwned)).toBeUndefined();
  expect(await page.locator(".message-list :is(img, iframe, script, svg[onload])").count()).toBe(0);
  expect(pageErrors).toEqual([]);
});

test("the board shows a run with its agents, stops and resumes it, and what was given up can be tried again", async () => {
  const workflow = {
    name: "review",
    agents: {
      lead: { model: "scripted:lead", role: "Leads the review" },
      worker: { model: "scripted:worker" },
      slow: { model: "scripted:slow" },
      broken: { model: "scripted:broken" },
    },
    kickoff: "@lead, review it. @slow wait. @broken fail.",
  };
  const started = await pages.testbed.api("/workflow-runs", "POST", { workflow, tag: "pr-7" });
  expect(started.status, JSON.stringify(started.body)).toBe(202);
  const { page, pageErrors } = await pages.openAddress("review:pr-7", "/~board");
  const card = (name: string) => page.locator(".agent-card", { has: page.getByRole("link", { name, exact: true }) });
  await page.locator('.run[data-status="running"]').waitFor();
  await card("slow").getByText("thinking").waitFor();
  await card("lead").getByText("“splitting the work”").waitFor();
  await card("lead").getByText("Works on the review").waitFor();
  await card("broken").getByText("1 message given up").click();
  await card("broken").getByText("@broken fail").waitFor();
  await takeAllScreenshots(page, "team-board");
  await page.setViewportSize(phone);
  expect(await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth)).toBe(true);
  await page.setViewportSize({ width: 1280, height: 860 });
  await page
    .locator(".tree-leaves")
    .getByRole("link", { name: /^slow.*thinking$/ })
    .waitFor();

  await card("broken").getByRole("button", { name: "Acknowledge" }).click();
  await card("broken").getByText("Inbox: empty").waitFor();
  await page.getByRole("button", { name: "Stop" }).click();
  await page.locator('.run[data-status="stopped"]').waitFor();
  await page.getByRole("button", { name: "Resume" }).click();
  await page.locator('.run:not([data-status="stopped"])').waitFor();

  await page.getByRole("link", { name: "Tasks" }).click();
  await page.getByText("Read the code").waitFor();
  await page.getByRole("link", { name: "Documents" }).click();
  await page.getByText("plan.md").first().waitFor();
  expect(pageErrors).toEqual([]);
});

test("an agency without a workflow tells how to start one", async () => {
  const team = await openTeam(pages.testbed, { alice: "parrot" });
  const { page } = await pages.openAddress(team.id, "/~board");
  await page.getByText("No workflow runs here").waitFor();
  await page.locator(".agent-card", { hasText: "alice" }).getByText("idle").waitFor();
  await takeAllScreenshots(page, "team-board-empty");
});

test("people and agents share tasks: created, claimed, completed and released on the page", async () => {
  const team = await openTeam(pages.testbed, { alice: "parrot" });
  const { page, pageErrors } = await pages.openAddress(team.id, "/~tasks");
  const create = async (title: string, choose: () => Promise<unknown> = async () => {}) => {
    await page.getByRole("button", { name: "New task" }).click();
    await page.getByLabel("Title").fill(title);
    await choose();
    await page.getByRole("button", { name: "Create task" }).click();
    await page.getByRole("dialog").waitFor({ state: "detached" });
  };
  await page.getByText("No tasks yet").waitFor();
  await takeAllScreenshots(page, "team-tasks-empty");
  await create("Build it");
  await create("Test it", () => page.getByRole("checkbox", { name: "Build it" }).check());
  const row = (title: string) =>
    page.locator("li[data-task]", { has: page.locator(".task-title", { hasText: title }) });
  await row("Test it").getByText("after Build it").waitFor();
  await row("Build it").getByLabel("Claim Build it for an agent").selectOption("alice");
  await row("Build it").getByText("claimed by alice").waitFor();
  await row("Build it").getByRole("button", { name: "Release" }).click();
  await row("Build it").getByRole("button", { name: "Claim", exact: true }).click();
  await row("Build it").getByText("claimed by owner").waitFor();
  await takeAllScreenshots(page, "team-tasks");
  await row("Build it").getByRole("button", { name: "Complete" }).click();
  await page.getByLabel("Result of Build it").fill("It runs.");
  await page.keyboard.press("Enter");
  await row("Build it").waitFor({ state: "detached" });
  await page.getByText("All", { exact: true }).click();
  await row("Build it").getByText("It runs.").waitFor();
  await row("Test it").getByRole("button", { name: "Cancel" }).click();
  await row("Test it").getByText("cancelled").waitFor();
  const { tasks } = await team.api("/tasks");
  expect(tasks).toMatchObject([
    { title: "Build it", status: "complete", claimedBy: "owner", result: "It runs." },
    { title: "Test it", status: "cancelled" },
  ]);
  expect(pageErrors).toEqual([]);
});

test("two people edit a document at once, see its history, and revert a change", async () => {
  const team = await openTeam(pages.testbed, { alice: "parrot" });
  const [one, two] = await Promise.all([
    pages.openAddress(team.id, "/~documents"),
    pages.openAddress(team.id, "/~documents"),
  ]);
  await one.page.getByText("No documents yet").waitFor();
  await takeAllScreenshots(one.page, "team-documents-empty");
  await one.page.getByRole("button", { name: "New document" }).click();
  await one.page.getByLabel("Path").fill("notes/plan.md");
  await one.page.getByRole("button", { name: "Create document" }).click();
  await findLiveStatus(one.page).waitFor();
  expect(new URL(one.page.url()).pathname).toBe(`/app/${team.id}/~documents/notes/plan.md`);
  await two.page.getByRole("treeitem", { name: /^plan\.md, / }).click();
  await findLiveStatus(two.page).waitFor();
  await findEditor(one.page).click();
  await one.page.keyboard.type("# Plan");
  for (const { page } of [one, two]) await waitUntil("the text", async () => (await readEditorText(page)) === "# Plan");
  await takeAllScreenshots(one.page, "team-documents");
  const written = await fetch(`${pages.testbed.host().url}${team.at}/documents/notes/plan.md`, {
    method: "PUT",
    headers: { authorization: `Bearer ${pages.testbed.host().token}` },
    body: "# Plan B",
  });
  expect(written.status).toBe(200);
  await waitUntil("the other text", async () => (await readEditorText(two.page)) === "# Plan B");
  await two.page.getByRole("link", { name: "History of notes/plan.md" }).click();
  await two.page.getByRole("list", { name: "Versions, newest first" }).getByRole("link").first().click();
  await two.page.locator('tr[data-kind="added"]', { hasText: "# Plan B" }).waitFor();
  await takeAllScreenshots(two.page, "team-document-version");
  await two.page.getByRole("button", { name: "Revert this version" }).click();
  await two.page.getByRole("dialog").getByRole("button", { name: "Revert" }).click();
  await two.page.getByRole("dialog").getByText("Done").waitFor();
  await waitUntil("the text to be back", async () => (await readEditorText(one.page)) === "# Plan");
  // No uploads and no branches.
  expect(await one.page.getByRole("button", { name: "Upload files" }).count()).toBe(0);
  await one.page.setViewportSize(phone);
  await waitUntil("the layout of a phone", () => hasNoOverflow(one.page));
  expect([one.pageErrors, two.pageErrors]).toEqual([[], []]);
});

test("the owner adds a person, changes what they may do, and removes them again", async () => {
  const team = await openTeam(pages.testbed, { alice: "broken" });
  await pages.testbed.api("/users", "POST", { name: "maria" });
  await team.post("@alice, do it");
  await waitUntil("it to be given up", async () => (await team.inbox("alice", "given_up")).length === 1);
  const { page, pageErrors } = await pages.openAddress(team.id, "/~members");
  await page.getByRole("button", { name: "Add person" }).click();
  await page.getByLabel("Name").fill("nobody");
  await page.getByRole("dialog").getByRole("button", { name: "Add person" }).click();
  await page.getByRole("dialog").getByRole("alert").getByText("nobody").waitFor();
  await page.getByLabel("Name").fill("maria");
  await page.getByRole("dialog").getByRole("button", { name: "Add person" }).click();
  const row = page.getByRole("row", { name: /maria/ });
  await row.getByText("chat").waitFor();
  await row.getByRole("button", { name: "Change what maria may do" }).click();
  await page.getByLabel("Approve what agents ask for").check();
  await page.getByRole("button", { name: "Save" }).click();
  await row.getByText("chat, approve").waitFor();
  await page.locator(".member-agents summary", { hasText: "1 given up" }).click();
  await page.getByRole("list", { name: "Inbox of alice" }).getByText("@alice, do it").waitFor();
  await takeAllScreenshots(page, "team-members");
  await row.getByRole("button", { name: "Remove maria" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Remove" }).click();
  await row.waitFor({ state: "detached" });
  expect(pageErrors).toEqual([]);
});
