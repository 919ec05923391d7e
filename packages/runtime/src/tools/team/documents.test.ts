import { fail, type Team, type Tool, type ToolContext } from "@thinkery/sdk";
import { expect, test } from "vitest";
import { documentTools, resourceTools } from "./documents.ts";
import { pageText } from "./page-text.ts";

const tools = new Map([...documentTools, ...resourceTools].map((tool) => [tool.name, tool]));
const find = (name: string) => tools.get(name) as Tool;

function run(name: string, input: unknown, team: object): unknown {
  const tool = find(name);
  return tool.execute(tool.inputSchema.parse(input), { team: team as Team } as ToolContext);
}

test("the tools have the names and the inputs that agents know, and are offered to teams", () => {
  expect([...tools.keys()]).toEqual([
    "team_doc_list",
    "team_doc_read",
    "team_doc_write",
    "team_doc_append",
    "team_doc_create",
    "resource_create",
    "resource_read",
  ]);
  for (const tool of tools.values())
    expect([tool.name, tool.onDemand, tool.idempotent]).toEqual([tool.name, "team", true]);
  expect(find("team_doc_write").parameters).toMatchObject({ required: ["name", "content"] });
});

test("a document may be named as other systems name it, and numbers may be text", async () => {
  const read = (name: string) => Promise.resolve(`${name}\n1\n2\n3\n`);
  for (const key of ["name", "path", "file"])
    expect(await run("team_doc_read", { [key]: "a.md", offset: "2", limit: "1" }, { documents: { read } })).toBe(
      "1\n[lines 2–2 of 4; continue with offset 3]",
    );
  expect(find("team_doc_read").inputSchema.safeParse({}).success).toBe(false);
});

test("the log keeps names and sizes, and no content", () => {
  const redact = (name: string, input: unknown) => find(name).redactInput?.(input);
  expect(redact("team_doc_write", { path: "a.md", content: "secret" })).toEqual({
    name: "a.md",
    content: "6 characters",
  });
  expect(redact("resource_create", { content: "secret", type: "text/plain" })).toEqual({
    type: "text/plain",
    content: "6 characters",
  });
  for (const invalid of [undefined, null, "text", 7, [], { content: 7 }])
    expect(redact("team_doc_write", invalid)).toEqual({});
});

test("rules match the name of a document, not its content", () => {
  const matches = (match: string, input: object) => find("team_doc_write").matchesRule?.(match, input, "deny", "*");
  expect(matches("plans/", { name: "plans/secret.md", content: "" })).toBe(true);
  expect(matches("PLANS/", { file: "plans/secret.md", content: "" })).toBe(true);
  expect(matches("plans/", { name: "notes.md", content: "see plans/" })).toBe(false);
});

test("what a model can mend is an invalid input, anything else is an error of the tool", async () => {
  const throwing = (error: Error) => ({ documents: { list: () => Promise.reject(error) } });
  await expect(run("team_doc_list", {}, throwing(fail("not_found", "No.")))).rejects.toMatchObject({
    code: "invalid_input",
    message: "No.",
  });
  await expect(run("team_doc_list", {}, throwing(fail("unavailable", "Later.")))).rejects.toMatchObject({
    code: "unavailable",
  });
});

test("a short text is read as it is, and a longer one by pages that say what is left", () => {
  expect(pageText("a\nb\n", {})).toBe("a\nb\n");
  expect(pageText("", {})).toBe("It is empty.");
  expect(pageText("a\nb\nc", { limit: 2 })).toBe("a\nb\n[lines 1–2 of 3; continue with offset 3]");
  expect(pageText("a\nb\nc", { offset: 3 })).toBe("c\n[lines 3–3 of 3]");
  expect(pageText("a\nb\nc", { offset: -1, limit: 0.5 })).toBe("a\n[lines 1–1 of 3; continue with offset 2]");
  expect(() => pageText("a\nb\nc", { offset: 4 })).toThrow("It has 3 lines; there is no line 4.");
  const line = "x".repeat(100_000);
  expect(pageText(`${line}\nb`, {})).toMatch(
    /^x{48000}… \[52000 more characters\]\n\[lines 1–1 of 2; continue with offset 2\]$/,
  );
});
