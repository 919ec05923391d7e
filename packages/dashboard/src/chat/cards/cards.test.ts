import type { Subagent } from "@thinkery/sdk";
import type { Call, Result } from "@thinkery/sdk/react";
import { createElement } from "react";
import { renderToStaticMarkup } from "react-dom/server";
import { expect, test, vi } from "vitest";
import { SubagentsProvider } from "../../subagents/subagents-context.ts";
import { createCardRegistry } from "./card-registry.ts";
import { allCards, findCard } from "./cards.ts";
import { defineCard } from "./define-card.tsx";

const createCall = (name: string, input: unknown, result?: Partial<Result>): Call => ({
  id: "1",
  name,
  input,
  ...(result && { result: { failed: false, output: "", size: 0, ...result } }),
});

const site = { agency: "global", agent: "alice", blobs: "/blobs" };
const render = (call: Call) => renderToStaticMarkup(findCard(call).render(site));
const getCardName = (name: string, input: unknown) => findCard(createCall(name, input)).name;
const getHint = (name: string, input: unknown) => findCard(createCall(name, input)).hint;

/** A valid input for each tool. */
const inputs: Record<string, object> = {
  executeCode: { code: "return 1;" },
  bash: { command: "ls" },
  sandbox: { command: "ls" },
  editFile: { path: "a.md", oldString: "a", newString: "b" },
  edit_file: { path: "a.md", edits: [{ oldString: "a", newString: "b" }] },
  writeFile: { path: "a.md", content: "a" },
  write_file: { file_path: "a.md", content: "a" },
  readFile: { path: "a.md" },
  read_file: { path: "a.md" },
  listFiles: {},
  ls: { path: "src" },
  grep: { pattern: "a" },
  glob: { pattern: "*.ts" },
  createSubtask: { title: "Fix it", type: "fix" },
  completeTask: { taskId: "task-1", status: "failed" },
  listTasks: {},
  task: { description: "Find the cause", subagentType: "explorer" },
  delegateToSubagent: { taskId: "task-1", title: "Find the cause", description: "Read the log." },
  checkSubagentStatus: { taskId: "task-1" },
  waitForSubagents: {},
  askUser: { prompt: "Which one?", schema: { enum: ["a", "b"] } },
  sleepUntil: { when: 90 },
  waitForWebhook: { name: "deploy" },
  schedule: { when: "0 9 * * *", input: "What is new?", timeZone: "Europe/Berlin" },
  channel_send: { message: "Hello @bob", to: "eve", channel: "design" },
  channel_read: { since: "msg-3" },
  my_inbox: {},
  my_inbox_ack: { ids: ["msg-1"] },
  my_inbox_defer: { id: "msg-1", until: 90 },
  my_status_set: { status: "Reading" },
  team_doc_read: { name: "plan.md" },
  team_doc_write: { name: "plan.md", content: "# Plan" },
  team_doc_append: { name: "plan.md", content: "more" },
  team_doc_create: { name: "plan.md", content: "" },
  team_doc_list: {},
  team_task_list: {},
  team_task_create: { title: "Fix it" },
  team_task_claim: { id: "task-1" },
  team_task_complete: { id: "task-1", status: "failed" },
  resource_create: { content: "long" },
  resource_read: { id: "a".repeat(64) },
  feedback: { message: "Too slow", rating: 2 },
};

test("every tool has its card, and a tool without one uses the plain card", () => {
  expect(Object.fromEntries(Object.entries(inputs).map(([tool, input]) => [tool, getCardName(tool, input)]))).toEqual({
    executeCode: "code",
    bash: "command",
    sandbox: "command",
    editFile: "edit",
    edit_file: "edit",
    writeFile: "write",
    write_file: "write",
    readFile: "read",
    read_file: "read",
    listFiles: "list",
    ls: "list",
    grep: "grep",
    glob: "glob",
    createSubtask: "task",
    completeTask: "task",
    listTasks: "task-list",
    task: "delegation",
    delegateToSubagent: "delegation",
    checkSubagentStatus: "subagent-status",
    waitForSubagents: "subagent-status",
    askUser: "question",
    sleepUntil: "sleep",
    waitForWebhook: "webhook",
    schedule: "schedule",
    channel_send: "channel-send",
    channel_read: "channel-read",
    my_inbox: "team-inbox",
    my_inbox_ack: "team-inbox",
    my_inbox_defer: "team-inbox",
    my_status_set: "team-status",
    team_doc_read: "team-doc",
    team_doc_write: "team-doc",
    team_doc_append: "team-doc",
    team_doc_create: "team-doc",
    team_doc_list: "team-doc",
    team_task_list: "team-task",
    team_task_create: "team-task",
    team_task_claim: "team-task",
    team_task_complete: "team-task",
    resource_create: "resource",
    resource_read: "resource",
    feedback: "feedback",
  });
  for (const name of ["set_title", "constructor", "__proto__", "", "BASH"]) {
    expect(getCardName(name, { command: "ls" })).toBe("plain");
  }
});

test("the hint summarizes the call", () => {
  expect(getHint("executeCode", { code: "\n  return 1;\n  // end" })).toBe("return 1; // end");
  expect(getHint("bash", { command: "  ls\t-l" })).toBe("$ ls -l");
  expect(getHint("editFile", { file_path: "a.md", old_string: "a", new_string: "b" })).toBe("a.md");
  const edits = '[{"old_string":"a","new_string":"b"},{"oldString":"c","newString":""}]';
  expect(getHint("editFile", { path: "a.md", edits })).toBe("a.md, 2 edits");
  expect(getHint("readFile", { path: "a.md", offset: 40, limit: "50" })).toBe("a.md, lines 40–89");
  expect(getHint("readFile", { path: "a.md", offset: 40 })).toBe("a.md, lines 40–");
  expect(getHint("listFiles", {})).toBe("all files");
  expect(getHint("createSubtask", { title: "Fix it", type: "fix" })).toBe("Fix it (fix)");
  expect(getHint("completeTask", { taskId: "task-1", status: "failed" })).toBe("task-1 → failed");
  expect(getHint("task", { description: "Find\nit", subagentType: "explorer" })).toBe("explorer: Find it");
  expect(getHint("delegateToSubagent", { taskId: "task-1" })).toBe("task-1");
  expect(getHint("grep", { pattern: "TODO", path: "src", glob: "*.ts" })).toBe("TODO in src (*.ts)");
  expect(getHint("askUser", { prompt: "Which\none?" })).toBe("Which one?");
  expect(getHint("sleepUntil", { when: "5400" })).toBe("in 1 h 30 min");
  expect(getHint("sleepUntil", { when: "2030-01-01T00:00:00Z" })).toBe("2030-01-01T00:00:00Z");
  expect(getHint("waitForWebhook", { name: "deploy" })).toBe("deploy");
  expect(getHint("schedule", { when: { every: 3600 }, input: "Look again" })).toBe("every 1 h: Look again");
  expect(getHint("channel_send", { message: "Hello\n@bob" })).toBe("#general: Hello @bob");
  expect(getHint("channel_send", { message: "Psst", channel: "@bob" })).toBe("@bob: Psst");
  expect(getHint("channel_read", { channel: "ops", thread: "msg-1", since: "msg-3" })).toBe(
    "#ops, thread msg-1, since msg-3",
  );
  expect(getHint("my_inbox_ack", { ids: ["msg-1", "msg-2"] })).toBe("msg-1, msg-2");
  expect(getHint("my_inbox_ack", { until: "msg-2" })).toBe("until msg-2");
  expect(getHint("my_inbox_defer", { id: "msg-1", until: 90 })).toBe("msg-1, in 1 min");
  expect(getHint("team_doc_list", {})).toBe("all documents");
  expect(getHint("team_task_complete", { id: "task-1", status: "failed" })).toBe("task-1 → failed");
  expect(getHint("resource_read", { id: "a".repeat(64) })).toBe("aaaaaaaaaaaa");
  expect(getHint("feedback", { message: "Too slow", rating: 2 })).toBe("2 of 5: Too slow");
  expect(getHint("other", { list: [1, 2], text: "hello" })).toBe("hello");
  expect(getHint("other", { list: [1, 2] })).toBe("list: 2");
  expect(getHint("other", "x".repeat(1000))).toHaveLength(80);
  expect(getHint("glob", { pattern: "\u202egnp.\u001b[31m\u2066*" })).toBe("\ufffdgnp.\u241b[31m\ufffd*");
});

const createNested = (levels: number): unknown => JSON.parse(`${'{"a":'.repeat(levels)}1${"}".repeat(levels)}`);
const poisoned = JSON.parse('{"__proto__":{"path":"a","command":"b","code":"c","pattern":"d"}}') as unknown;

/** Inputs that are invalid for every tool; `invalidFor` has further ones for some. */
const invalid: unknown[] = [
  undefined,
  null,
  0,
  true,
  "text",
  [],
  [["path", "a"]],
  { path: { toString: null }, command: 1, code: {}, pattern: [], content: null, oldString: 1, newString: 2 },
];
const empty: unknown[] = [{}, { toString: null, valueOf: null }, poisoned];
const invalidFor: Record<string, unknown[]> = {
  executeCode: [...empty, ...[{ a: { toString: null } }, "abc", ["a"], 1].map((modules) => ({ code: "1", modules }))],
  bash: empty,
  editFile: [
    ...empty,
    { path: "a" },
    { path: "a", oldString: "a" },
    { path: "a", oldString: null, newString: "b" },
    ...["[", "1", [null], [[]], [{ oldString: "a" }], { length: 1e9 }].map((edits) => ({ path: "a", edits })),
  ],
  writeFile: [...empty, { path: "a", content: { toString: null } }, { content: "a" }],
  readFile: empty,
  grep: [...empty, { pattern: "a", path: 1 }, { pattern: "a", glob: {} }],
  glob: empty,
  listFiles: [{ path: 1 }, { path: [] }],
  askUser: [...empty, { prompt: ["a"] }, { schema: {} }],
  sleepUntil: [...empty, { when: null }, { when: { every: "x" } }, { when: Infinity }],
  waitForWebhook: [...empty, { name: {} }],
  schedule: [...empty, { when: 1 }, { input: "a" }, { when: { every: {} }, input: "a" }],
  channel_send: [...empty, { message: 1 }, { content: "a" }],
  channel_read: [{ channel: 1 }, { channel: {} }],
  my_inbox_ack: [{ ids: [] }, { ids: [1] }, { until: 1 }],
  my_status_set: [...empty, { status: [] }],
  team_doc_read: [{ name: 1 }, { content: "a" }],
  team_task_claim: [{ id: 1 }, { title: {} }],
  resource_read: [...empty, { id: 1 }],
  feedback: [...empty, { message: {} }, { rating: 1 }],
};

test("input of an unexpected shape is shown by the plain card", () => {
  const consoleError = vi.spyOn(console, "error");
  for (const tool of Object.keys(inputs))
    for (const input of invalid) expect(getCardName(tool, input), tool).toBe("plain");
  for (const [tool, list] of Object.entries(invalidFor)) {
    for (const input of list) expect(getCardName(tool, input), tool).toBe("plain");
  }
  // It was rejected by validation, not by a caught error.
  expect(consoleError).not.toHaveBeenCalled();
  consoleError.mockRestore();
});

test("every call is rendered, whatever its input", () => {
  const results = [undefined, { output: "done" }, { failed: true, output: "no", errorCode: "invalid_input" as const }];
  const all = new Set([...invalid, ...Object.values(invalidFor).flat()]);
  for (const tool of [...Object.keys(inputs), "other"]) {
    for (const input of all) {
      for (const result of results) expect(render(createCall(tool, input, result))).toContain(result?.output ?? "");
    }
  }
  // Indented, this would be 2 MB.
  expect(render(createCall("other", createNested(1000))).length).toBeLessThan(50_000);
  expect(render(createCall("other", createNested(100_000)))).toContain("too deeply nested");
});

test("every card renders running, completed and failed calls", () => {
  for (const [tool, input] of Object.entries(inputs)) {
    expect(render(createCall(tool, input))).not.toContain("no such file");
    expect(render(createCall(tool, input, { output: "<b>all</b> good" }))).toContain("&lt;b&gt;all&lt;/b&gt; good");
    expect(render(createCall(tool, input, { failed: true, output: "no such file" }))).toContain("no such file");
  }
});

test("an edit is shown as a diff and a write as its content, both sanitized", () => {
  const one = { oldString: "one\n\u202etwo", newString: "one\n<i>2</i>", replaceAll: true };
  const edit = render(createCall("editFile", { path: "a.md", ...one }));
  expect([...edit.matchAll(/<tr data-kind="(\w+)">/g)].map(([, kind]) => kind)).toEqual(["same", "removed", "added"]);
  expect(edit).toContain("\ufffdtwo");
  expect(edit).toContain("&lt;i&gt;2&lt;/i&gt;");
  expect(edit).toContain("all occurrences");

  const edits = Array.from({ length: 25 }, (_, index) => ({ oldString: `${index}`, newString: "x" }));
  const several = render(createCall("editFile", { path: "a.md", edits }));
  expect(several).toContain("Edit 20 of 25");
  expect(several).not.toContain("Edit 21 of 25");
  expect(several).toContain("and 5 more");

  const write = render(createCall("writeFile", { path: "a.md", content: `${"line\n".repeat(999)}\u2066<b>` }));
  expect(write).toContain("Content, 1,000 lines");
  expect(write).toContain("Show 800 more lines");
  expect(write).not.toContain("\u2066");
  expect(render(createCall("writeFile", { path: "a.md", content: "" }))).toContain("Empty file");
});

test("a card can override the state label", () => {
  const ended = findCard(createCall("bash", { command: "ls" }, { output: "no\n\nexit code 2" }));
  expect(ended.state).toEqual({ text: "exit code 2", tone: "bad" });
  expect(findCard(createCall("bash", { command: "ls" }, { output: "fine" })).state).toBeUndefined();
  const missing = { failed: true, output: "There is no “a.md”.", errorCode: "invalid_input" as const };
  expect(findCard(createCall("readFile", { path: "a.md" }, missing)).state).toEqual({ text: "failed" });
  expect(findCard(createCall("readFile", { path: "a.md" }, { ...missing, errorCode: "denied" })).state).toBeUndefined();
});

test("a card that throws is replaced by the plain card", () => {
  const consoleError = vi.spyOn(console, "error").mockImplementation(() => {});
  const fail = (): never => {
    throw new Error("broken");
  };
  const base = { name: "broken", tools: ["broken"], icon: "tool" as const };
  const parts = { parse: () => 1, hint: () => "", Body: () => null };
  for (const part of [{ parse: fail }, { hint: fail }, { state: fail }]) {
    const find = createCardRegistry([defineCard({ ...base, ...parts, ...part })]);
    expect(find(createCall("broken", { a: 1 })).name).toBe("plain");
  }
  expect(consoleError).toHaveBeenCalledTimes(3);
  consoleError.mockRestore();
});

test("an added card is found by its tools, and two cards cannot claim the same tool", () => {
  const approve = defineCard<string>({
    name: "approval",
    tools: ["approve"],
    icon: "person",
    parse: (input) => (typeof input === "string" ? input : undefined),
    hint: (input) => input,
    Body: ({ input, agent }) => createElement("p", null, `${agent} asks: ${input}`),
  });
  const find = createCardRegistry([...allCards, approve]);
  expect(renderToStaticMarkup(find(createCall("approve", "deploy?")).render(site))).toBe("<p>alice asks: deploy?</p>");
  expect(find(createCall("approve", 1)).name).toBe("plain");
  expect(find(createCall("bash", { command: "ls" })).name).toBe("command");
  expect(() => createCardRegistry([...allCards, { ...approve, tools: ["bash"] }])).toThrow("“bash”");
});

test("a list of tasks is shown as a tree, whatever it contains", () => {
  const output = JSON.stringify({
    tasks: [
      {
        taskId: "a",
        title: "One <b>",
        status: "in_progress",
        subtasks: [{ taskId: "b", title: "Two", status: "failed" }],
      },
      { taskId: 1, title: "odd" },
      null,
    ],
  });
  const html = render(createCall("listTasks", {}, { output }));
  expect(html).toContain("One &lt;b&gt;");
  expect([...html.matchAll(/data-status="(\w+)"/g)].map(([, status]) => status)).toEqual(["in_progress", "failed"]);
  for (const text of ["", "{", "null", '{"tasks":{}}', "[1]"]) {
    expect(render(createCall("listTasks", {}, { output: text }))).toContain("Output");
  }
});

test("cards of delegated work link to the sub-agent, with its status and report", () => {
  const subagent = {
    taskId: "task-1",
    facetName: "subagent-task-1",
    callId: "1",
    title: "Find the <b>cause",
    agentType: "explorer",
    status: "complete",
    startedAt: 1,
    result: "It was the cache.",
  } as Subagent;
  const renderWith = (call: Call, part: Partial<Subagent> = {}) =>
    renderToStaticMarkup(
      createElement(SubagentsProvider, { value: [{ ...subagent, ...part }] }, findCard(call).render(site)),
    );
  const link = '<a class="task-title" title="subagent-task-1" href="/app/global/alice/~sub/subagent-task-1">';
  const task = createCall("task", { description: "Find it" }, { output: "It was <i>the</i> cache." });
  expect(renderWith(task)).toContain("It was &lt;i&gt;the&lt;/i&gt; cache.");
  expect(renderWith(task)).toContain(link);
  const delegated = createCall("delegateToSubagent", { taskId: "task-1" }, { output: '{"status":"running"}' });
  expect(renderWith(delegated, { callId: "2" })).toContain("It was the cache.");
  expect(renderWith(delegated, { status: "running", activity: "readFile a.md" })).toContain("readFile a.md");
  const waited = { subagents: [{ taskId: "task-1", status: "failed", error: "No key." }] };
  const wait = renderWith(createCall("waitForSubagents", {}, { output: JSON.stringify(waited) }));
  expect([wait.includes(link), wait.includes("No key."), wait.includes("failed")]).toEqual([true, true, true]);
  const checked = createCall(
    "checkSubagentStatus",
    { taskId: "task-1" },
    { output: '{"taskId":"x","status":"running"}' },
  );
  expect(renderWith(checked)).toContain("running");
  // Not started yet: there is no conversation to link to.
  expect(renderWith(task, { startedAt: undefined })).not.toContain("<a ");
});

test("a question is shown with the form of its answer, and whatever its schema, as text", () => {
  const schema = { enum: ["<b>a</b>", "\u202eb"] };
  const asked = createCall("askUser", { prompt: "Which <i>one</i>?", schema }, { output: "<u>a</u>" });
  const html = render(asked);
  for (const text of ["Which &lt;i&gt;one&lt;/i&gt;?", "&lt;b&gt;a&lt;/b&gt;", "\ufffdb", "&lt;u&gt;a&lt;/u&gt;"]) {
    expect(html).toContain(text);
  }
  expect(findCard(asked).state).toEqual({ text: "answered" });
  expect(render(createCall("askUser", { prompt: "?", schema: createNested(100_000) }))).toContain("too deeply nested");
});

test("cards of team tools link to what they are about", () => {
  const sent = { output: JSON.stringify({ id: "msg-7", channel: "general", to: ["bob"], notFound: ["@\u202ex"] }) };
  const send = render(createCall("channel_send", { message: "Hello <b>", to: ["bob", 1] }, sent));
  expect(send).toContain('href="/app/global/~channels/general/msg-7"');
  expect([send.includes("Hello &lt;b&gt;"), send.includes("@\ufffdx")]).toEqual([true, true]);

  const messages = [{ id: "msg-1", from: "bob<i>", content: "One" }, null, { id: 1, from: {}, content: [] }];
  const read = render(createCall("channel_read", {}, { output: JSON.stringify({ messages }) }));
  expect(read).toContain('href="/app/global/~channels/general/msg-1"');
  expect(read).toContain("bob&lt;i&gt;");
  const direct = createCall("channel_read", { channel: "@bob" }, { output: JSON.stringify({ messages }) });
  expect(render(direct)).not.toContain("<a ");
  const inbox = { items: [{ id: "msg-2", channel: "ops", from: "eve", content: "Two", status: "pending" }] };
  expect(render(createCall("my_inbox", {}, { output: JSON.stringify(inbox) }))).toContain("~channels/ops/msg-2");
  for (const output of ["{", "null", '{"messages":1}', '{"items":[1]}', "[]"]) {
    for (const tool of ["channel_read", "my_inbox", "team_task_list"]) render(createCall(tool, {}, { output }));
  }

  expect(render(createCall("team_doc_read", { path: "notes/a b.md" }))).toContain(
    'href="/app/global/~documents/notes/a%20b.md"',
  );
  expect(render(createCall("team_doc_read", { name: "../x" }))).toContain('href="/app/global/~documents"');
  const tasks = [
    { id: "a", title: "One <b>", status: "in_progress", claimedBy: "bob" },
    { id: "b", parentId: "a", title: "Two", status: "failed" },
    { id: "c", title: 1 },
  ];
  const list = render(createCall("team_task_list", {}, { output: JSON.stringify({ tasks }) }));
  expect([...list.matchAll(/data-status="(\w+)"/g)].map(([, status]) => status)).toEqual(["in_progress", "failed"]);
  expect([list.includes("One &lt;b&gt;"), list.includes("claimed by bob")]).toEqual([true, true]);
  const id = "0f".repeat(32);
  expect(render(createCall("resource_create", { content: "x" }, { output: JSON.stringify({ id }) }))).toContain(
    `/agency/global/resources/${id}`,
  );
  expect(render(createCall("resource_read", { id: "../x" }))).not.toContain("/resources/");
});
