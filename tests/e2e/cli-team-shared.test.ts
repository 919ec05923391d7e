import { chmod, readdir, readFile, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startHost, type TestHost } from "@thinkery/sdk/test";
import { afterAll, beforeAll, expect, test } from "vitest";
import { bindCliInProcess } from "../kit/cli-in-process.ts";
import { runCli } from "../kit/host-process.ts";

// What the members of an agency share, in the CLI: documents, resources, tasks, feedback, blueprints, and the agency itself.

let host: TestHost;
const { folder, run, runJson, thinkery, expectError } = bindCliInProcess(() => host);

beforeAll(async () => {
  host = await startHost();
  await run("agency", "new", "review");
  for (const name of ["alice", "bob"]) await run("new", `${name}@review`);
}, 60_000);

afterAll(() => host?.stop());

/** Runs the CLI in a process of its own, with stdin. */
const pipe = (input: string, args: string[], env: Record<string, string> = {}) =>
  runCli(args, join(folder, "home"), {
    cwd: folder,
    input,
    env: { THINKERY_URL: host.url, THINKERY_TOKEN: host.token, ...env },
  });

const inReview = ["-a", "@review"];

test("a document is written, appended to, listed, read, moved and deleted", async () => {
  expect((await pipe("# Plan\n", ["doc", "write", "notes/plan.md", ...inReview])).stdout).toBe(
    "Wrote notes/plan.md (7 B) as version 1.\n",
  );
  expect(await run("doc", "append", "notes/plan.md", ...inReview, "--", "- Test", "it")).toMatch(/as version 2\.\n$/);
  expect(await run("doc", "read", "notes/plan.md", ...inReview)).toBe("# Plan\n- Test it\n");
  expect(await run("doc", "read", "notes/plan.md", "--at", "1", ...inReview)).toBe("# Plan\n");
  expect(await runJson("doc", "read", "notes/plan.md", ...inReview)).toMatchObject({ content: "# Plan\n- Test it\n" });
  await expectError(
    ["doc", "append", "notes/plan.md", "- x", ...inReview],
    2,
    "Put -- before text that starts with “-”.",
  );
  await expectError(["doc", "write", "notes/plan.md", "x", "--new", ...inReview], 1, /already exists/);
  await writeFile(join(folder, "bytes.bin"), Buffer.from([0, 255, 10]));
  expect(await run("doc", "write", "b.bin", "--file", "bytes.bin", ...inReview)).toContain("(3 B)");
  await expectError(["doc", "append", "b.bin", "x", ...inReview], 2, "“b.bin” is a binary file");
  expect(await run("doc", "ls", ...inReview)).toMatch(
    /^NAME +SIZE +MODIFIED +VERSION\nb\.bin +3 B .*\nnotes\/plan\.md +17 B /,
  );
  expect((await runJson("doc", "ls", "notes/", ...inReview)).documents).toMatchObject([{ path: "notes/plan.md" }]);
  expect(await run("doc", "mv", "notes/plan.md", "done/", ...inReview)).toBe("Moved notes/plan.md to done/plan.md.\n");
  await expectError(["doc", "rm", "b.bin", ...inReview], 2, "Pass --yes to confirm");
  expect(await run("doc", "rm", "b.bin", "--yes", ...inReview)).toBe("Deleted b.bin.\n");
  await expectError(["doc", "read", "b.bin", ...inReview], 1, /b\.bin/);
  await expectError(["doc", "ls", "-a", "@reviw"], 1, "Agency “reviw” not found. Did you mean review?");
});

test("text is appended on a line of its own, and by several at once without losing any", async () => {
  await run("doc", "write", "log.md", "--file", await createFile("no newline at the end"), ...inReview);
  const words = Array.from({ length: 5 }, (_, index) => `line-${index}`);
  await Promise.all(words.map((word) => run("doc", "append", "log.md", word, ...inReview)));
  const [first, ...lines] = (await run("doc", "read", "log.md", ...inReview)).trimEnd().split("\n");
  expect(first).toBe("no newline at the end");
  expect(lines.toSorted()).toEqual(words);
  expect(await run("doc", "append", "new.md", "created", ...inReview)).toContain("Wrote new.md (8 B)");
});

async function createFile(text: string): Promise<string> {
  await writeFile(join(folder, "input.txt"), text);
  return "input.txt";
}

/** Creates an editor that runs shell commands on its file, `$1`. */
async function createEditor(script: string): Promise<Record<string, string>> {
  const path = join(folder, `editor-${Math.random().toString(36).slice(2)}.sh`);
  await writeFile(path, `#!/bin/sh\nset -e\n${script}\n`);
  await chmod(path, 0o755);
  return { EDITOR: path };
}

test("edit opens a document in the editor, and merges what others change meanwhile", async () => {
  await run("doc", "write", "story.md", "--file", await createFile("one\ntwo\nthree\nfour\nfive\n"), ...inReview);
  const replace = await createEditor(`sed -i 's/one/ONE/' "$1"`);
  const edited = await pipe("", ["doc", "edit", "story.md", ...inReview], replace);
  expect([edited.code, edited.stderr, edited.stdout]).toEqual([0, "", expect.stringMatching(/^Wrote story\.md /)]);

  await writeFile(join(folder, "other.md"), "ONE\ntwo\nthree\nfour\nFIVE\n");
  const cli = join(import.meta.dirname, "../../packages/daemon/dist/thinkery.js");
  const meanwhile = await createEditor(
    `sed -i 's/ONE/uno/' "$1"\n"${process.execPath}" "${cli}" doc write story.md --file "${folder}/other.md" -a @review >/dev/null`,
  );
  const merged = await pipe("", ["doc", "edit", "story.md", ...inReview], meanwhile);
  expect([merged.code, merged.stdout]).toEqual([
    0,
    expect.stringMatching(/^Merged with what others changed meanwhile/),
  ]);
  expect(await run("doc", "read", "story.md", ...inReview)).toBe("uno\ntwo\nthree\nfour\nFIVE\n");

  const nothing = await pipe("", ["doc", "edit", "story.md", ...inReview], await createEditor("true"));
  expect(nothing.stdout).toBe("Nothing was changed.\n");
  const created = await pipe("", ["doc", "edit", "fresh.md", ...inReview], await createEditor(`echo new > "$1"`));
  expect(created.stdout).toContain("Wrote fresh.md (4 B)");
}, 30_000);

test("what was typed in the editor is kept if it cannot be stored", async () => {
  const editor = await createEditor(`echo precious > "$1"`);
  const reader = (await runJson("token", "new", "doc-reader")).token as string;
  const { code, stderr } = await pipe("", ["doc", "edit", "denied.md", ...inReview], {
    ...editor,
    THINKERY_TOKEN: reader,
  });
  const [, file = ""] = /^Your text is in (.+)\.\n/.exec(stderr) ?? [];
  expect([code, file.startsWith(tmpdir())]).toEqual([3, true]);
  expect(await readFile(file, "utf8")).toBe("precious\n");
  expect(await readdir(join(file, ".."))).toEqual(["denied.md"]);
});

test("versions of documents are listed, shown and reverted", async () => {
  await run("agency", "new", "history");
  const inHistory = ["-a", "history"];
  expect(await run("doc", "versions", ...inHistory)).toBe("The documents of history have no versions yet.\n");
  for (const text of ["first", "second"]) await run("doc", "write", "a.md", text, ...inHistory);
  expect(await run("doc", "versions", "a.md", ...inHistory)).toMatch(
    /^VERSION +WHEN +BY +CHANGED\n2 .* owner +~a\.md\n1 .* owner +\+a\.md\n$/,
  );
  expect(await run("doc", "diff", "2", ...inHistory)).toMatch(/-first\n\+second/);
  expect(await run("doc", "revert", "2", "--dry-run", ...inHistory)).toBe("Would change ~a.md.\n");
  expect(await run("doc", "revert", "2", ...inHistory)).toBe("Reverted as version 3: ~a.md.\n");
  expect(await run("doc", "read", "a.md", ...inHistory)).toBe("first\n");
  await expectError(["doc", "revert", ...inHistory], 2, "Specify what to revert");
});

test("a resource is stored once, listed, and printed by the start of its hash", async () => {
  await createFile("A report.");
  const id = (await run("resource", "put", "input.txt", "--type", "text/markdown", ...inReview)).trim();
  expect(id).toMatch(/^[0-9a-f]{64}$/);
  expect((await pipe("A report.", ["resource", "put", "-", ...inReview])).stdout.trim()).toBe(id);
  expect(await run("resource", "ls", ...inReview)).toMatch(
    new RegExp(`^ID .*\n${id.slice(0, 8)} +text/markdown +9 B +owner .* A report\\.\n`),
  );
  expect(await run("resource", "get", id.slice(0, 6), ...inReview)).toBe("A report.");
  expect(await runJson("resource", "get", id, ...inReview)).toMatchObject({ id, content: "A report." });
  expect(await run("resource", "get", id, "-o", "out.md", ...inReview)).toBe("Saved it to out.md (9 B).\n");
  expect(await readFile(join(folder, "out.md"), "utf8")).toBe("A report.");
  await expectError(["resource", "get", "ffff", ...inReview], 1, "No resource “ffff” in review.");
});

test("shared tasks are added, shown as a tree with their holders, claimed, released and ended", async () => {
  const plan = await runJson("task", "add", "@review", "Plan it", "--type", "plan");
  const build = await runJson("task", "add", "@review", "Build it", "--after", plan.id);
  const below = await runJson("task", "add", "@review", "Read", "--parent", plan.id);
  expect(await run("task", "claim", "@review", plan.id, "--for", "@alice")).toBe(`${plan.id} is claimed by alice.\n`);
  await expectError(["task", "claim", "@review", plan.id], 1, /alice/);
  // Alice was told of it, and may have a turn at the moment.
  expect(await run("task", "ls", "@review")).toContain(
    [
      "shared in review",
      `● Plan it  ${plan.id} · plan · in progress · by alice`,
      `└─ ○ Read  ${below.id} · code · pending`,
      `○ Build it  ${build.id} · code · pending · after ${plan.id}`,
      "",
      "0 of 3 complete, 1 in progress, 2 pending",
      "",
    ].join("\n"),
  );
  expect(await run("task", "release", "@review", plan.id)).toBe(`${plan.id} is pending.\n`);
  expect(await run("task", "start", "@review", plan.id)).toBe(`${plan.id} is in progress.\n`);
  expect(await run("task", "done", "@review", below.id, "--result", "Read.")).toBe(`${below.id} is complete.\n`);
  expect(await run("task", "cancel", "@review", build.id)).toBe(`${build.id} is cancelled.\n`);
  const { tasks, progress } = await runJson("task", "ls", "@review");
  expect(tasks).toMatchObject([{ claimedBy: "owner" }, { status: "cancelled" }, { result: "Read." }]);
  expect(progress).toMatchObject({ total: 3, complete: 1 });
  expect(await run("task", "fail", "@review", plan.id, "--error", "No time.")).toBe(`${plan.id} is failed.\n`);
  expect(await run("task", "ls", "@review")).not.toContain("shared in review");
  expect(await run("task", "ls", "@review", "--all")).toMatch(/✗ Plan it .* · No time\./);
  const other = await runJson("task", "add", "@review", "Another");
  await expectError(["task", "done", "@review", `${other.id.slice(0, -1)}_`], 1, `Did you mean ${other.id}?`);
  await expectError(["task", "claim", "alice@review", "x"], 2, "Only shared tasks can be claimed");
  await expectError(["task", "ls", "@reviw"], 1, "Did you mean review?");
});

test("feedback is left and listed", async () => {
  expect(await run("feedback", "ls", "@review")).toBe("No feedback in review yet.\n");
  expect(await run("feedback", "@review", "Well", "done!", "--rating", "5")).toContain("Thank you.");
  expect((await pipe("From a pipe.\n", ["feedback", "@review"])).code).toBe(0);
  await run("feedback", "alice@review", "Quick.");
  expect(await run("feedback", "ls", "@review")).toMatch(
    /^owner {2}\d\d:\d\d · 5 of 5\n {2}Well done!\n\nowner {2}\d\d:\d\d\n {2}From a pipe\.\n\nowner {2}\d\d:\d\d\n {2}@alice: Quick\.\n$/,
  );
  expect((await runJson("feedback", "ls", "@review")).feedback).toMatchObject([
    {},
    {},
    { message: "Well done!", rating: 5 },
  ]);
  await expectError(["feedback", "x", "--rating", "6"], 2, "Expected a whole number from 1 to 5.");
});

test("blueprints are stored from files, shown as files, and deleted", async () => {
  await writeFile(join(folder, "reviewer.yaml"), "name: reviewer\nprompt: |\n  Be brief.\ntags: [default]\n");
  expect(await run("blueprint", "put", "reviewer.yaml", ...inReview)).toMatch(/^Stored blueprint reviewer in review\./);
  const shown = await run("blueprint", "show", "reviewer", ...inReview);
  expect(shown).toContain("prompt: |\n  Be brief.\n");
  const again = await pipe(shown, ["blueprint", "put", "-", ...inReview]);
  expect([again.code, again.stderr]).toEqual([0, ""]);
  expect(await runJson("blueprint", "show", "reviewer", ...inReview)).toMatchObject({
    source: "dynamic",
    prompt: "Be brief.\n",
  });

  await writeFile(join(folder, "bad.json"), '{\n  "name": "bad",\n  "promt": "x",\n  "tags": "default"\n}\n');
  const { code, stderr } = await thinkery(["blueprint", "put", "bad.json", ...inReview]);
  expect([code, stderr]).toEqual([
    2,
    "thinkery: bad.json, line 3, column 3: promt: unknown key. Did you mean “prompt”?\n  tags: expected a list, got text (line 4, column 11)\n",
  ]);
  await expectError(["blueprint", "put", "missing.yaml"], 2, "Cannot read “missing.yaml”");
  await expectError(["blueprint", "rm", "reviewer", ...inReview], 2, "Pass --yes to confirm");
  expect(await run("blueprint", "rm", "reviewer", "--yes", ...inReview)).toBe(
    "Deleted blueprint reviewer of review.\n",
  );
  await expectError(["blueprint", "show", "thnk", ...inReview], 1, "Did you mean “think”?");
});

test("an agency's settings and variables are shown and changed", async () => {
  expect(await run("agency", "edit", "review", "maxAttempts=6", "--name", "Code review")).toMatch(
    /^agency +review\nname +Code review\n[^]*\nagents +2\n\nSETTING +VALUE +MEANING\nmaxAttempts +6 /,
  );
  expect(await run("agency", "vars", "review")).toContain("vars set name=value -a @review");
  expect(await run("agency", "vars", "set", "branch=main", "query=a=b", ...inReview)).toBe("branch=main\nquery=a=b\n");
  expect(await run("agency", "vars", "unset", "branch", ...inReview)).toBe("query=a=b\n");
  expect(await runJson("agency", "show", "@review")).toMatchObject({
    id: "review",
    name: "Code review",
    settings: { maxAttempts: 6 },
    vars: { query: "a=b" },
  });
  await expectError(
    ["agency", "edit", "review", "maxAttempt=1"],
    2,
    "Unknown setting “maxAttempt”. Did you mean maxAttempts?",
  );
  await expectError(["agency", "edit", "review", "maxAttempts=0"], 2, /maxAttempts/);
  await expectError(["agency", "edit", "review", "maxAttempts=many"], 2, "maxAttempts must be a number; got “many”.");
  await expectError(["agency", "edit", "review"], 2, "Nothing to change.");
  await expectError(["agency", "vars", "unset", "nope", ...inReview], 1, "review has no variable “nope”.");
  await expectError(["agency", "vars", "set", "nope", ...inReview], 2, "“nope” is not a variable; write name=value.");
  await expectError(["agency", "show", "reviw"], 1, "Did you mean review?");
});

test("another user becomes a member, uses the agency, and is removed again", async () => {
  await run("user", "add", "carol");
  const { token } = await runJson("token", "new", "laptop", "--user", "carol", "--scope", "chat");
  const env = { THINKERY_TOKEN: token as string };
  const asCarol = (...args: string[]) => thinkery(args, { env });
  expect((await asCarol("channel", "read", "#general@review@owner")).code).toBe(1);
  expect(await run("agency", "add-member", "carol", ...inReview)).toBe("carol may now use review: chat.\n");
  expect(await run("agency", "members", "review")).toMatch(
    /^NAME +KIND +STATUS +NOTE\nowner +owner .*\ncarol +person +chat\nalice +agent +idle\nbob +agent +idle\n$/,
  );
  expect((await asCarol("channel", "send", "#general@review@owner", "Hello")).stdout).toContain("Posted ");
  expect((await runJson("channel", "read", "general@review")).messages.at(-1)).toMatchObject({ from: "carol" });
  expect(await run("agency", "add-member", "carol", "--scope", "chat,approve", ...inReview)).toBe(
    "carol may now use review: chat, approve.\n",
  );
  await expectError(["agency", "rm-member", "carol", ...inReview], 2, "Pass --yes to confirm");
  expect(await run("agency", "rm-member", "carol", "--yes", ...inReview)).toBe("carol may no longer use review.\n");
  const refused = await asCarol("channel", "read", "#general@review@owner");
  expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining("review@owner")]);
  await expectError(["agency", "add-member", "nobody", ...inReview], 1, /nobody/);
});
