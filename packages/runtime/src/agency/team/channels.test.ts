import { maxInlineChars } from "@thinkery/sdk";
import { beforeEach, describe, expect, test } from "vitest";
import { createTeamParts, owner, toAgent, type TeamParts } from "../../../../../tests/kit/team-parts.ts";

let team: TeamParts;

const ann = { kind: "user" as const, name: "ann" };

beforeEach(() => {
  team = createTeamParts();
});

const post = (content: string, options: object = {}, by = owner, channel = "general") =>
  team.channels.post(channel, { content, ...options }, by);

const list = (query: object = {}, channel = "general", by = owner) =>
  team.channels.read(channel, { limit: 100, ...query }, by);

const listIds = (query: object = {}) => list(query).messages.map(({ id }) => id);

describe("posting", () => {
  test("a message is for those it mentions and those it names, each once, and not for its author", async () => {
    const posted = await post("@ALICE, see @kimi-code", { to: ["bob", "alice"] });
    expect(posted).toMatchObject({ id: "msg-1", to: ["bob", "alice", "kimi-code"], from: "owner", fromKind: "user" });
    expect((await post("@alice and @bob", {}, toAgent("alice"))).to).toEqual(["bob"]);
    expect(team.listItems("alice").map(({ message }) => message)).toEqual([1]);
    await expect(post("x", { to: "allice" })).rejects.toThrow("Did you mean “alice”?");
    expect((await post("@allice and @ann")).unknown).toEqual([{ name: "allice", suggestion: "alice" }]);
  });

  test("the same key of the same sender is the same message, also at once and when it is long", async () => {
    const long = "x".repeat(maxInlineChars + 1);
    const options = { idempotencyKey: "k" };
    const all = await Promise.all([post(long, options), post(long, options), post("other", options)]);
    expect(new Set(all.map(({ id }) => id)).size).toBe(1);
    expect(all.filter(({ duplicate }) => duplicate)).toHaveLength(2);
    expect((await post("mine", options, ann)).duplicate).toBeUndefined();
    expect((await post("mine", options, toAgent("alice"))).duplicate).toBeUndefined();
    expect(listIds()).toHaveLength(3);
    expect(team.messages).toHaveLength(3);
  });

  test("a long text becomes a resource, and its beginning stays in the channel", async () => {
    const text = `${"😀".repeat(maxInlineChars)} @alice`;
    const { content, resource, size, to } = await post(text);
    expect([resource, size, to, team.texts]).toEqual(["hash-1", text.length, ["alice"], [text]]);
    expect([content.isWellFormed(), content.endsWith("…"), content.length < 2100]).toEqual([true, true, true]);
    expect(await post("x".repeat(maxInlineChars))).not.toHaveProperty("resource");
  });

  test("secrets are removed before anything is stored", async () => {
    expect((await post("the secret")).content).toBe("the [redacted]");
    await post(`secret ${"x".repeat(maxInlineChars)}`);
    expect(team.texts[0]).toMatch(/^\[redacted\]/);
  });

  test("a message is for at most 50 agents", async () => {
    const names = Array.from({ length: 51 }, (_, index) => `agent-${index}`);
    team = createTeamParts(names);
    const mention = (count: number) =>
      names
        .slice(0, count)
        .map((name) => `@${name}`)
        .join(" ");
    expect((await post(mention(50))).to).toHaveLength(50);
    await expect(post(mention(51))).rejects.toMatchObject({ code: "bad_request" });
    expect(listIds()).toEqual(["msg-1"]);
  });

  test("a message to a channel that is deleted meanwhile is refused", async () => {
    team.channels.create({ name: "news" }, owner);
    const posting = post("x".repeat(maxInlineChars + 1), {}, owner, "news");
    team.channels.hide("news");
    await expect(posting).rejects.toThrow("“news” was deleted");
  });
});

describe("direct channels", () => {
  test("two members share one, no matter who writes first, and it wakes the other one only", async () => {
    const first = await post("Hi @kimi-code", {}, toAgent("alice"), "@bob");
    const answer = await post("Yes?", {}, toAgent("bob"), "@ALICE");
    expect([first.channel, first.to, answer.channel, answer.to]).toEqual([
      "alice+bob",
      ["bob"],
      "alice+bob",
      ["alice"],
    ]);
    const fromPerson = await post("Hi", {}, owner, "@bob");
    const toPerson = await post("Hello", {}, toAgent("bob"), "@owner");
    expect([fromPerson.channel, fromPerson.to]).toEqual(["bob+~owner", ["bob"]]);
    expect([toPerson.channel, toPerson.to]).toEqual(["bob+~owner", []]);
    expect(team.created.map(({ name }) => name)).toEqual(["alice+bob", "bob+~owner"]);
  });

  test("no other agent can read or write there, but people can read", async () => {
    await post("psst", {}, toAgent("alice"), "@bob");
    expect(() => list({}, "alice+bob", toAgent("kimi-code"))).toThrow("not found");
    await expect(post("me too", {}, toAgent("kimi-code"), "alice+bob")).rejects.toMatchObject({ code: "not_found" });
    expect(list({}, "alice+bob", toAgent("alice")).messages).toHaveLength(1);
    expect(list({}, "alice+bob", owner).messages).toHaveLength(1);
  });

  test("nobody writes to themselves, or to nobody, and reading creates nothing", async () => {
    await expect(post("x", {}, toAgent("alice"), "@alice")).rejects.toMatchObject({ code: "bad_request" });
    await expect(post("x", {}, owner, "@alise")).rejects.toThrow("Did you mean “alice”?");
    expect(list({}, "@alice").messages).toEqual([]);
    expect(team.created).toEqual([]);
  });
});

describe("threads and pages", () => {
  test("an answer to an answer is in the same thread", async () => {
    await post("question");
    await post("answer", { thread: "msg-1" });
    expect((await post("and", { thread: "msg-2" })).thread).toBe("msg-1");
    await post("unrelated");
    expect(listIds({ thread: "msg-3" })).toEqual(["msg-1", "msg-2", "msg-3"]);
    expect(list().messages[0]?.replies).toBe(2);
    team.channels.create({ name: "news" }, owner);
    await expect(post("x", { thread: "msg-1" }, owner, "news")).rejects.toMatchObject({ code: "not_found" });
    await expect(post("x", { thread: "1" })).rejects.toMatchObject({ code: "bad_request" });
  });

  test("pages in both directions have every message once", async () => {
    for (let number = 1; number <= 7; number++) await post(`${number}`);
    const forwards: string[] = [];
    for (let after: string | undefined; ;) {
      const { messages, next } = list({ limit: 3, ...(after ? { after } : {}) });
      forwards.push(...messages.map(({ content }) => content));
      if (next === undefined) break;
      after = next;
    }
    const backwards: string[] = [];
    for (let query: object = { newest: "1" }; ;) {
      const { messages, previous } = list({ limit: 3, ...query });
      backwards.unshift(...messages.map(({ content }) => content));
      if (previous === undefined) break;
      query = { before: previous };
    }
    expect([forwards, backwards]).toEqual([[..."1234567"], [..."1234567"]]);
    expect(listIds({ since: "msg-2", until: "msg-4" })).toEqual(["msg-3", "msg-4"]);
    expect(listIds({ since: "msg-2", after: "msg-5" })).toEqual(["msg-6", "msg-7"]);
    for (const since of ["yesterday", "7", "msg-x", "2020-13-45"])
      expect(() => list({ since })).toThrow("must be the id of a message");
  });

  test("a page of long messages ends early", async () => {
    for (let number = 0; number < 40; number++) await post("x".repeat(60_000));
    const { messages, next } = list();
    expect([messages.length < 40, next]).toEqual([true, messages.at(-1)?.id]);
  });
});

describe("channels", () => {
  test("are created once, in any case, and general is always there", async () => {
    expect(list().messages).toEqual([]);
    expect(team.channels.create({ name: "News", description: "What is new" }, owner).name).toBe("News");
    expect(() => team.channels.create({ name: "news" }, ann)).toThrow("already exists");
    expect(() => team.channels.create({ name: "general" }, ann)).toThrow("already exists");
    team.channels.ensure("NEWS", ann);
    expect(team.channels.list({ limit: 100 }).channels.map(({ name }) => name)).toEqual(["general", "News"]);
    expect(() => list({}, "nws")).toThrow("Did you mean “News”?");
    expect(() => list({}, "alice")).toThrow("use “@alice”");
  });

  test("a deleted one is hidden at once; the rest of it goes in slices, also after a crash", async () => {
    team.channels.create({ name: "news" }, owner);
    for (let number = 0; number < 250; number++) await post(`@alice ${number}`, {}, owner, "news");
    await post("@alice stays");
    team.channels.hide("news");
    expect(() => list({}, "news")).toThrow("not found");
    expect(() => team.channels.create({ name: "NEWS" }, owner)).toThrow("still being deleted");
    expect(team.store.deleteChannel("news", 100)).toBe(false);
    await team.channels.clear();
    expect(team.listItems("alice").map(({ message }) => message)).toEqual([251]);
    team.channels.create({ name: "news" }, owner);
    expect(list({}, "news").messages).toEqual([]);
    expect(() => team.channels.hide("general")).toThrow("cannot be deleted");
  });

  test("notices of the host wake nobody, and find a place if their channel is gone", () => {
    team.channels.postNotice("gone", "@alice, it was given up.");
    expect(list().messages).toMatchObject([{ from: "thinkery", fromKind: "host", to: [] }]);
    expect(team.listItems("alice")).toEqual([]);
  });
});
