import { afterAll, beforeAll, expect, test } from "vitest";
import { bindCliInProcess } from "../kit/cli-in-process.ts";
import { bindCli } from "../kit/scripted-host.ts";
import { waitUntil } from "../kit/wait-until.ts";
import { openTestbed, type Testbed } from "../kit/worker/testbed.ts";

// Channels and inboxes in the CLI.

let testbed: Testbed;
let teamCount = 0;

const cli = bindCliInProcess(() => testbed.host());
const { run, runJson, thinkery, expectError } = cli;
const send = (message: string) => ({ call: { tool: "channel_send", input: { message } } });

beforeAll(async () => {
  testbed = await openTestbed({
    scripts: {
      member: [
        { when: "fail", steps: [{ fail: { status: 400 } }] },
        { when: "ask me", steps: [{ call: { tool: "askUser", input: { prompt: "Which one?" } } }, { text: "ok" }] },
        { when: "wait", steps: [{ wait: 600_000 }, { text: "Late." }] },
        { when: "from alice", steps: [{ text: "Good." }] },
        { steps: [send("Done, thanks @bob."), { text: "ok" }] },
      ],
    },
  });
}, 60_000);

afterAll(() => testbed?.stop());

/** Creates an agency with alice and bob, and returns its id. */
async function openTeam(): Promise<string> {
  const agency = `team-${++teamCount}`;
  await run("agency", "new", agency);
  for (const name of ["alice", "bob"]) await run("new", `${name}@${agency}`, "-m", "scripted:member");
  return agency;
}

const clock = String.raw`\d\d:\d\d`;

test("a message is posted to whom it mentions, and read with who, when and to whom", async () => {
  const agency = await openTeam();
  const channel = `#general@${agency}`;
  expect(await run("channel", "read", `general@${agency}`)).toBe(
    `No messages in ${channel} yet. Write one with \`thinkery channel send '${channel}' "Hello, @alice!"\`.\n`,
  );
  expect(await run("channel", "send", channel, "Nobody", "in", "particular")).toBe(
    `Posted msg-1 to ${channel}. It mentions no agent, so it wakes none.\n`,
  );
  const posted = await thinkery(["channel", "send", channel, "Look, @alice and @bobb\nat this", "--priority", "high"]);
  expect(posted).toEqual({
    code: 0,
    stdout: `Posted msg-2 to ${channel} for alice.\n`,
    stderr: "Nobody here is named “bobb”. Did you mean @bob?\n",
  });
  await waitUntil("alice to answer", async () => (await runJson("channel", "read", channel)).messages.length === 3);
  expect(await run("channel", "read", channel)).toMatch(
    new RegExp(
      `^owner {2}${clock} · msg-1\n {2}Nobody in particular\n\nowner → alice {2}${clock} · msg-2 · high priority\n {2}Look, @alice and @bobb\n {2}at this\n\nalice → bob {2}${clock} · msg-3\n {2}Done, thanks @bob\\.\n$`,
    ),
  );
  expect(await runJson("channel", "ls", `@${agency}`)).toMatchObject({ channels: [{ name: "general", messages: 3 }] });
});

test("--to, --thread and --key say who gets a message, what it answers, and that it is posted once", async () => {
  const agency = await openTeam();
  const channel = `general@${agency}`;
  const root = await runJson("channel", "send", channel, "Shall we?", "--key", "k");
  expect(await runJson("channel", "send", channel, "Shall we?", "--key", "k")).toMatchObject({
    id: root.id,
    duplicate: true,
  });
  const answer = await runJson("channel", "send", channel, "Yes.", "--thread", "1", "--to", "@bob", "--to", "alice");
  expect(answer).toMatchObject({ thread: "msg-1", to: ["bob", "alice"] });
  const thread = await runJson("channel", "read", channel, "--thread", "1");
  expect(thread.messages.slice(0, 2)).toMatchObject([{ id: "msg-1", replies: 1 }, { id: "msg-2" }]);
  expect(await run("channel", "read", channel, "--thread", "msg-1")).toMatch(
    /msg-1 · 1 reply\n[^]*msg-2 · in thread msg-1\n/,
  );
});

test("messages are limited by number, by a message, and by time", async () => {
  const agency = await openTeam();
  const channel = `general@${agency}`;
  for (const text of ["one", "two", "three", "four"]) await run("channel", "send", channel, text);
  const read = async (...args: string[]) =>
    (await runJson("channel", "read", channel, ...args)).messages.map((one: { content: string }) => one.content);
  expect(await read("-n", "2")).toEqual(["three", "four"]);
  expect(await read("-n", "2", "--before", "msg-3")).toEqual(["one", "two"]);
  expect(await read("--since", "2")).toEqual(["three", "four"]);
  expect(await read("--since", "1h")).toEqual(["one", "two", "three", "four"]);
  expect(await read("--since", "2050-01-01")).toEqual([]);
  expect(await run("channel", "read", channel, "-n", "1")).toMatch(
    /^For earlier messages, use --before msg-4\n\nowner/,
  );
});

test("--wait prints what is written until the woken agents have handled it", async () => {
  const agency = await openTeam();
  const { code, stdout, stderr } = await thinkery(["channel", "send", `general@${agency}`, "Go, @alice!", "--wait"]);
  expect({ code, stderr }).toEqual({
    code: 0,
    stderr: `Posted msg-1 to #general@${agency} for alice.\nHandled by alice.\n`,
  });
  expect(stdout).toMatch(new RegExp(`^alice → bob {2}${clock} · msg-2\n {2}Done, thanks @bob\\.\n\n$`));
  const json = await thinkery(["channel", "send", `#general@${agency}`, "Again, @alice", "--wait", "--json"]);
  const { id, messages, open, givenUp } = JSON.parse(json.stdout);
  expect({ id, open, givenUp }).toEqual({ id: "msg-3", open: [], givenUp: [] });
  expect(messages).toMatchObject([{ from: "alice" }]);
});

test("--wait fails if an agent gave up, needs a person, or takes too long", async () => {
  const agency = await openTeam();
  const channel = `general@${agency}`;
  await run("agency", "edit", agency, "maxAttempts=1");
  const failed = await thinkery(["channel", "send", channel, "@alice, please fail", "--wait"]);
  expect([failed.code, failed.stderr]).toEqual([1, expect.stringMatching(/\nalice could not handle it: .+\n$/)]);
  expect(failed.stdout).toMatch(/^thinkery {2}.* notice of the host · in thread msg-1\n/);
  const asked = await thinkery(["channel", "send", channel, "@alice, ask me", "--wait"]);
  expect([asked.code, asked.stderr]).toEqual([4, expect.stringContaining(`alice@${agency} waits for your answer:`)]);
  const slow = await thinkery(["channel", "send", channel, "@bob, wait", "--wait", "--timeout", "1s"]);
  expect([slow.code, slow.stderr]).toEqual([1, expect.stringContaining("Not handled yet by bob, who will go on")]);
}, 30_000);

test("direct messages are a channel of two", async () => {
  const agency = await openTeam();
  expect(await run("channel", "send", `#@bob@${agency}`, "wait, please")).toBe(
    `Posted msg-1 to #@bob@${agency} for bob.\n`,
  );
  for (const name of [`#@bob@${agency}`, `bob+~owner@${agency}`])
    expect((await runJson("channel", "read", name)).messages).toMatchObject([{ content: "wait, please" }]);
  expect(await run("channel", "ls", `@${agency}`)).toMatch(/#bob\+~owner +1 .*direct messages of owner and bob\n/);
});

test("channels are created and deleted, but only on purpose", async () => {
  const agency = await openTeam();
  expect(await run("channel", "new", `dev@${agency}`, "--description", "Builds")).toContain(`Created #dev@${agency}.`);
  await expectError(["channel", "new", `dev@${agency}`], 1, "Channel “dev” already exists.");
  await expectError(["channel", "rm", `dev@${agency}`], 2, "Pass --yes to confirm");
  expect(await run("channel", "rm", `dev@${agency}`, "--yes")).toBe(`Deleted #dev in ${agency}.\n`);
  await expectError(["channel", "rm", `general@${agency}`, "--yes"], 1, "cannot be deleted");
});

test("-f prints what is written, and goes on after a restart of main", async () => {
  const agency = await openTeam();
  const channel = `general@${agency}`;
  await run("channel", "send", channel, "before");
  const follower = bindCli(testbed.host())("channel", "read", channel, "-f", "-n", "1", "--json");
  const contents = () =>
    follower
      .out()
      .split("\n")
      .filter(Boolean)
      .map((line) => JSON.parse(line).content);
  await waitUntil("the first message", () => contents().length === 1);
  await run("channel", "send", channel, "while it follows");
  await waitUntil("the second message", () => contents().length === 2);
  await testbed.restartMain();
  await run("channel", "send", channel, "after a restart");
  await waitUntil("the third message", () => contents().length === 3);
  expect(contents()).toEqual(["before", "while it follows", "after a restart"]);
}, 60_000);

test("a message of two megabytes is stored as a resource, which a command prints", async () => {
  const agency = await openTeam();
  const text = `Long: ${"x".repeat(2_000_000)} end`;
  const { code, stderr } = await testbed.host().runCli(["channel", "send", `general@${agency}`, "-"], { input: text });
  expect([code, stderr]).toEqual([0, ""]);
  const shown = await run("channel", "read", `general@${agency}`);
  const [, hash = ""] =
    /… 2000010 characters in full: thinkery resource get ([0-9a-f]{64}) -a @team-\d+\n$/.exec(shown) ?? [];
  expect(await run("resource", "get", hash, "-a", `@${agency}`)).toBe(text);
});

test("send and peek work on channels, and peek shows an agency's latest messages", async () => {
  const agency = await openTeam();
  const channel = `#general@${agency}`;
  expect(await run("send", channel, "Hello")).toContain(`Posted msg-1 to ${channel}.`);
  expect(await run("peek", channel)).toMatch(/msg-1\n {2}Hello\n$/);
  expect(await run("peek", `@${agency}`)).toMatch(/^AGENT[^]*\nbob .*\n\n#general owner: Hello\n$/);
  await expectError(["send", channel, "x", "--mode", "steer"], 2, "--mode is for agents");
  await expectError(["send"], 2, "Quote a channel: shells take # for a comment.");
});

test("what a message holds cannot control the terminal", async () => {
  const agency = await openTeam();
  await run("channel", "send", `general@${agency}`, "a\u001b[2Jb\u202ec\r\nd");
  const { stdout } = await thinkery(["channel", "read", `general@${agency}`], { isTTY: true });
  expect(stdout).toContain("  a\ufffd[2Jb\ufffdc\n  d");
  for (const control of ["\u001b[2J", "\u202e"]) expect(stdout).not.toContain(control);
});

test("inboxes are counted and listed, and their items acknowledged, deferred and delivered again", async () => {
  const agency = await openTeam();
  const channel = `general@${agency}`;
  await run("agency", "edit", agency, "maxAttempts=1");
  await thinkery(["channel", "send", channel, "@bob, fail", "--wait"]);
  await run("channel", "send", channel, "@alice, wait");
  await waitUntil("alice to begin", async () => {
    const { items } = await runJson("inbox", "ls", `alice@${agency}`);
    return items[0]?.status === "seen";
  });
  const { id } = await runJson("channel", "send", channel, "@alice, one more");
  const counts = await run("inbox", "ls", `@${agency}`);
  expect(counts).toMatch(/^AGENT +PENDING +SEEN +DEFERRED +GIVEN UP\nalice +1 +1 +0 +0\nbob +0 +0 +0 +1\n$/);
  expect(await run("inbox", "ls", `bob@${agency}`, "--status", "given_up")).toMatch(
    /msg-1 +owner +#general +given_up +1 /,
  );
  expect(await run("inbox", "defer", `alice@${agency}`, id, "--for", "2h")).toBe(`Deferred: ${id}.\n`);
  expect(await run("inbox", "ls", `alice@${agency}`)).toMatch(new RegExp(`${id} .*deferred .*again at `));
  expect(await run("inbox", "ack", `alice@${agency}`, id)).toBe(`Acknowledged: ${id}.\n`);
  expect(await run("inbox", "ack", `alice@${agency}`, id)).toBe("Nothing to change.\n");
  expect(await run("inbox", "retry", `bob@${agency}`, "1")).toBe("Delivering again: msg-1.\n");
  await expectError(["inbox", "ack", `alice@${agency}`, "99"], 1, "“msg-99” is not in the inbox of alice");
  await expectError(["inbox", "ack", `alice@${agency}`], 2, "Pass either ids or --until.");
  await expectError(["inbox", "ls", `@${agency}`, "--status", "all"], 2, "--status requires an agent");
}, 30_000);

test("a reader can read, but not write", async () => {
  const agency = await openTeam();
  const { token } = await runJson("token", "new", "reader");
  const env = { THINKERY_TOKEN: token as string };
  expect((await thinkery(["channel", "read", `general@${agency}`], { env })).code).toBe(0);
  expect((await thinkery(["channel", "send", `general@${agency}`, "x"], { env })).code).toBe(3);
});

test.each([
  [["channel", "read", "general@team-0"], 1, /Agency “team-0” not found\. Did you mean team-\d+\?/],
  [["channel", "read", "dvv@team-1"], 1, "Channel “dvv” not found. List them with `thinkery channel ls @team-1`."],
  [["channel", "read", "#a b@team-1"], 2, "Invalid channel name “a b”"],
  [["channel", "read", "general@team-1", "--since", "soon"], 2, "“soon” is no beginning."],
  [["channel", "read", "general@team-1", "--thread", "x"], 2, "“x” is not the id of a message"],
  [["channel", "read", "general@team-1", "-n", "x"], 2, "Expected a whole number"],
  [["channel", "send", "general@team-1", "x", "--to", "alcie"], 1, "Did you mean “alice”?"],
  [["channel", "send", "general@team-1", "x", "--timeout", "5s"], 2, "--timeout requires --wait."],
  [["channel", "send", "general@team-1", "x", "--priority", "urgent"], 2, "Allowed choices are low, normal, high"],
  [["inbox", "ls", "alcie@team-1"], 1, "Did you mean alice?"],
  [["inbox", "ls", "@team-0"], 1, "Agency “team-0” not found."],
])("%j fails with %i", async (args, code, message) => {
  await expectError(args, code, message);
});
