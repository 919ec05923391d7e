import { type FileContent, type FileInfo, type Tool, ToolImage } from "@thinkery/sdk";
import { describe, expect, test } from "vitest";
import { deleteFile } from "./delete-file.ts";
import { editFile } from "./edit-file.ts";
import { FilesDouble } from "./files-double.ts";
import { glob } from "./glob.ts";
import { grep } from "./grep.ts";
import { listFiles } from "./list-files.ts";
import { moveFile } from "./move-file.ts";
import { readFile } from "./read-file.ts";
import { writeFile } from "./write-file.ts";

const png = Uint8Array.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 0]);

/** Returns the error message of a call that must not change anything. */
async function callAndGetError(files: FilesDouble, tool: Tool, input: unknown): Promise<string> {
  const before = new Map(files.stored);
  const error = await files.call(tool, input).then(String, (error: unknown) => error as Error);
  expect(error).toBeInstanceOf(Error);
  expect(files.stored).toEqual(before);
  return (error as Error).message;
}

describe("readFile", () => {
  test("shows a text with line numbers and marks it as seen", async () => {
    const files = new FilesDouble({ "src/a.ts": "one\r\n\ntwo\n" });
    expect(await files.call(readFile, { path: "/work/src/a.ts" })).toBe("1\tone\n2\t\n3\ttwo");
    expect(files.seenHashes.get("src/a.ts")).toBe(files.getInfo("src/a.ts")?.hash);
  });

  test("shows a page and says how to continue", async () => {
    const files = new FilesDouble({ a: Array.from({ length: 5_000 }, (_, index) => `line ${index + 1}`).join("\n") });
    expect(await files.call(readFile, { path: "a", offset: 4_998 })).toBe(
      "4998\tline 4998\n4999\tline 4999\n5000\tline 5000\n[lines 4998–5000 of 5000]",
    );
    expect(await files.call(readFile, { path: "a", offset: 2, limit: 1 })).toBe(
      "2\tline 2\n[lines 2–2 of 5000; continue with offset 3]",
    );
    const all = String(await files.call(readFile, { path: "a" })).split("\n");
    expect(all).toHaveLength(2_001);
    expect(all.at(-1)).toBe("[lines 1–2000 of 5000; continue with offset 2001]");
    expect(await callAndGetError(files, readFile, { path: "a", offset: 5_001 })).toBe(
      "The file has 5000 lines; there is no line 5001.",
    );
    expect(await files.call(readFile, { path: "a", offset: -3, limit: 0.5 })).toContain("1\tline 1\n[lines 1–1 of");
  });

  test("shows no more than fits into one result, however long the lines are", async () => {
    const files = new FilesDouble({
      a: `${"x".repeat(1_500)}\n`.repeat(60),
      b: `${"😀".repeat(3_000)}\nend`,
      c: "y".repeat(99_000),
    });
    const shown = String(await files.call(readFile, { path: "a" }));
    expect(shown.length).toBeLessThan(50 * 1024);
    const [, last] = /\[lines 1–(\d+) of 60; continue with offset/.exec(shown) ?? [];
    expect(shown).toContain(`\n${last}\txxx`);
    expect(await files.call(readFile, { path: "a", offset: Number(last) + 1 })).toMatch(
      new RegExp(`^${Number(last) + 1}\tx`),
    );
    expect(await files.call(readFile, { path: "b" })).toBe(`1\t${"😀".repeat(1_000)}… [4000 more characters]\n2\tend`);
    expect(String(await files.call(readFile, { path: "c" })).length).toBeLessThan(2_100);
  });

  test("describes binary files and shows images regardless of their names", async () => {
    const files = new FilesDouble({
      "x.txt": png,
      "x.png": Uint8Array.from([0, 1, 2]),
      empty: "",
      long: `first\n${"z".repeat(200_000)}`,
    });
    const image = (await files.call(readFile, { path: "x.txt" })) as ToolImage;
    expect(image).toBeInstanceOf(ToolImage);
    expect(image).toMatchObject({ mediaType: "image/png", data: png });
    expect(await files.call(readFile, { path: "x.png" })).toBe("x.png is not text: application/octet-stream, 3 bytes.");
    expect(await files.call(readFile, { path: "empty" })).toBe("The file is empty.");
    expect(await files.call(readFile, { path: "long" })).toMatch(/^1\tfirst\n2\tz{2000}… \[198000 more characters\]$/);
  });

  test("a file that changes while it is read counts as seen in its old state", async () => {
    const files = new FilesDouble({ long: "z".repeat(200_000) });
    const { hash } = files.getInfo("long") as FileInfo;
    files.onNextWait = () => files.put("long", "other");
    await files.call(readFile, { path: "long" });
    expect(files.seenHashes.get("long")).toBe(hash);
    expect(await callAndGetError(files, writeFile, { path: "long", content: "mine" })).toContain(
      "has changed since you read it",
    );
  });

  test("lists a folder, and suggests similar paths for a missing file", async () => {
    const files = new FilesDouble({ "src/index.ts": "x", "src/other.ts": "xy" });
    expect(await files.call(readFile, { path: "src/" })).toBe("src/index.ts (1 byte)\nsrc/other.ts (2 bytes)");
    expect(await files.call(readFile, { path: "/work" })).toContain("src/index.ts");
    expect(await callAndGetError(files, readFile, { path: "index.ts" })).toBe(
      "There is no “index.ts” in the workspace. Did you mean src/index.ts?",
    );
    expect(await callAndGetError(files, readFile, { path: "src/indx.ts" })).toContain("Did you mean src/index.ts?");
    expect(await callAndGetError(files, readFile, { path: "zzzzzzzzzz" })).toBe(
      "There is no “zzzzzzzzzz” in the workspace.",
    );
  });
});

describe("writeFile", () => {
  test("creates a file and marks it as seen", async () => {
    const files = new FilesDouble();
    expect(await files.call(writeFile, { path: "./a/b.txt", content: "one\ntwo\n" })).toBe("Created a/b.txt, 2 lines.");
    expect(await files.call(writeFile, { path: "a/b.txt", content: "one\n2\nthree\n" })).toBe(
      "Changed a/b.txt: 2 lines added, 1 removed.",
    );
    expect(await files.call(writeFile, { path: "a/b.txt", content: "one\n2\nthree\n" })).toBe(
      "a/b.txt already has this content.",
    );
    expect(files.commits).toEqual([["write a/b.txt"], ["write a/b.txt"]]);
  });

  test("does not replace content the model has not seen", async () => {
    const files = new FilesDouble({ a: "theirs" });
    expect(await callAndGetError(files, writeFile, { path: "a", content: "mine" })).toBe(
      "“a” already exists and you have not read it. Read it first, then write it again if you still want to replace it.",
    );
    await files.call(readFile, { path: "a" });
    files.put("a", "changed");
    expect(await callAndGetError(files, writeFile, { path: "a", content: "mine" })).toContain(
      "has changed since you read it",
    );
    await files.call(readFile, { path: "a" });
    expect(await files.call(writeFile, { path: "a", content: "mine" })).toBe("Changed a: 1 line added, 1 removed.");
  });

  test("checks again after a large file was stored", async () => {
    const files = new FilesDouble();
    const content = "x".repeat(200_000);
    files.onNextWait = () => files.put("a", "theirs");
    await expect(files.call(writeFile, { path: "a", content })).rejects.toThrow("already exists");
    expect(files.stored.get("a")).toBe("theirs");
    expect(await files.call(writeFile, { path: "b", content })).toBe("Created b, 195.3 KB.");
  });
});

describe("editFile", () => {
  const text = "function a() {\n  return 1;\n}\n\nfunction b() {\n  return 2;\n}\n";

  async function read(content = text): Promise<FilesDouble> {
    const files = new FilesDouble({ a: content });
    await files.call(readFile, { path: "a" });
    return files;
  }

  test("edits a file that was read, and shows the result", async () => {
    const files = await read();
    expect(await files.call(editFile, { path: "a", oldString: "return 2", newString: "return 3" })).toBe(
      "Changed a.\n5\tfunction b() {\n6\t  return 3;\n7\t}",
    );
    expect(files.stored.get("a")).toBe(text.replace("return 2", "return 3"));
    expect(await files.call(editFile, { path: "a", oldString: "return 3", newString: "return 4" })).toContain(
      "Changed a.",
    );
    expect(await files.call(editFile, { path: "a", oldString: "return", newString: "yield", replaceAll: true })).toBe(
      "Changed a in 2 places.\n1\tfunction a() {\n2\t  yield 1;\n3\t}\n…\n5\tfunction b() {\n6\t  yield 4;\n7\t}",
    );
  });

  test("makes several edits at once, or none", async () => {
    const files = await read();
    const edits = [
      { oldString: "return 1", newString: "return 10" },
      { oldString: "return 2", newString: "return 20" },
    ];
    expect(
      await callAndGetError(files, editFile, { path: "a", edits: [...edits, { oldString: "gone", newString: "x" }] }),
    ).toContain("Edit 3 of 3 failed, so none was made: ");
    await files.call(editFile, { path: "a", edits });
    expect(files.commits).toEqual([["write a"]]);
    expect(files.stored.get("a")).toBe(text.replace("1", "10").replace("return 2", "return 20"));
  });

  test("requires the file to be read first", async () => {
    const files = new FilesDouble({ a: text, x: png });
    expect(await callAndGetError(files, editFile, { path: "a", oldString: "1", newString: "2" })).toBe(
      "You have not read “a” yet. Read it before you edit it.",
    );
    expect(await callAndGetError(files, editFile, { path: "b", oldString: "1", newString: "2" })).toContain(
      "There is no “b” in the workspace.",
    );
    expect(await callAndGetError(files, editFile, { path: "x", oldString: "1", newString: "2" })).toContain(
      "“x” is not text",
    );
  });

  test("in a file that others have changed, only an exact and unique match is replaced", async () => {
    const files = await read();
    files.put("a", `// theirs\n${text}`);
    expect(await callAndGetError(files, editFile, { path: "a", oldString: "return 2; ", newString: "x" })).toMatch(
      /^“a” has changed since you read it\. oldString was not found\. The most similar text is:\n/,
    );
    expect(
      await callAndGetError(files, editFile, { path: "a", oldString: "return", newString: "x", replaceAll: true }),
    ).toContain("Read it again before you use replaceAll");
    const result = String(await files.call(editFile, { path: "a", oldString: "return 1", newString: "return 7" }));
    expect(result).toMatch(
      /^Changed a\. “a” has changed since you read it\. The text around the edit is shown below; read the file for the rest\.\n1\t\/\/ theirs\n2\tfunction a/,
    );
    expect(files.stored.get("a")).toBe(`// theirs\n${text.replace("return 1", "return 7")}`);
    // The model has still not seen this state.
    expect(await files.call(editFile, { path: "a", oldString: "return 7", newString: "return 8" })).toContain(
      "has changed since you read it",
    );
    await files.call(readFile, { path: "a" });
    expect(await files.call(editFile, { path: "a", oldString: "return 8; ", newString: "return 9;" })).not.toContain(
      "has changed",
    );
  });

  test("a large file that changes while it is read or stored is not overwritten", async () => {
    const large = `head\n${"x".repeat(200_000)}`;
    for (const wait of [1, 2]) {
      const files = await read(large);
      const change = () => files.put("a", "theirs");
      files.onNextWait = wait === 1 ? change : () => (files.onNextWait = change);
      await expect(files.call(editFile, { path: "a", oldString: "head", newString: "x".repeat(10) })).rejects.toThrow(
        "was just changed by someone else",
      );
      expect(files.stored.get("a")).toBe("theirs");
    }
    const files = await read(large);
    expect(await files.call(editFile, { path: "a", oldString: "head", newString: "top" })).toMatch(
      /^Changed a\.\n1\ttop\n/,
    );
    const edited = await files.readBytes(files.stored.get("a") as FileContent);
    expect(new TextDecoder().decode(edited)).toBe(large.replace("head", "top"));
  });

  test("nothing is written if the turn was canceled meanwhile", async () => {
    const content = "x".repeat(200_000);
    for (const [tool, input] of [
      [writeFile, { path: "a", content }],
      [editFile, { path: "a", oldString: "head", newString: "top" }],
    ] as const) {
      const files = await read(`head\n${content}`);
      files.onNextWait = () => files.abortController.abort(new Error("canceled"));
      await expect(files.call(tool, input)).rejects.toThrow("canceled");
      expect(files.commits).toEqual([]);
    }
  });

  test("creates a file with an empty oldString, but does not overwrite one", async () => {
    const files = new FilesDouble({ "folder/x": "" });
    expect(await files.call(editFile, { path: "new", oldString: "", newString: "hello\n" })).toBe(
      "Created new.\n1\thello",
    );
    expect(await callAndGetError(files, editFile, { path: "folder", oldString: "", newString: "x" })).toContain(
      "There is no “folder”",
    );
    expect(await callAndGetError(files, editFile, { path: "new", oldString: "", newString: "x" })).toContain(
      "oldString is empty",
    );
  });

  test.each([
    { path: "a" },
    { path: "a", oldString: "x" },
    { path: "a", edits: [] },
    { path: "a", edits: "[" },
    { path: "a", oldString: "a", newString: "b", edits: [{ oldString: "a", newString: "b" }] },
    { path: "a", edits: [{ oldString: "a" }] },
  ])("%j is invalid", (input) => {
    expect(editFile.inputSchema.safeParse(input).success).toBe(false);
  });
});

describe("listFiles, glob and grep", () => {
  const many = new FilesDouble(
    Object.fromEntries(Array.from({ length: 1_500 }, (_, index) => [`src/${index % 3 ? "a" : "b"}/${index}.ts`, "x"])),
  );
  many.put("readme.md", "hello");

  test("list few files with their sizes, and many by folder", async () => {
    expect(await new FilesDouble({ b: "", "a/c": "x" }).call(listFiles, {})).toBe("a/c (1 byte)\nb (0 bytes)");
    expect(await new FilesDouble().call(listFiles, {})).toBe("The workspace has no files yet.");
    expect(await many.call(listFiles, { path: "/work/" })).toBe("src/ (1500 files)\nreadme.md (5 bytes)");
    expect(await many.call(listFiles, { path: "src" })).toBe("src/a/ (1000 files)\nsrc/b/ (500 files)");
    expect(
      String(await many.call(listFiles, { path: "src/a" }))
        .split("\n")
        .at(-1),
    ).toBe("[800 more; use glob]");
    expect(await many.call(listFiles, { path: "readme.md" })).toBe("readme.md (5 bytes)");
    expect(await callAndGetError(many, listFiles, { path: "scr" })).toContain("There is no “scr”");
  });

  test("find a limited number of files by name", async () => {
    expect(await many.call(glob, { pattern: "*.md" })).toBe("readme.md");
    expect(
      String(await many.call(glob, { pattern: "src/**/*.ts" }))
        .split("\n")
        .at(-1),
    ).toBe("[500 more; use a narrower pattern]");
    expect(await many.call(glob, { pattern: "*.js" })).toBe("No files match.");
  });

  test("find a limited number of lines, with the given options", async () => {
    const files = new FilesDouble({ "src/a": "", b: "" });
    expect(await files.call(grep, { pattern: "x+", path: "/work/src/", glob: "*.ts", ignore_case: true })).toBe(
      "No lines match.",
    );
    expect(files.searches).toEqual([{ pattern: "x+", under: "src", glob: "*.ts", ignoreCase: true, limit: 200 }]);
    files.found = [
      { path: "b", line: 3, text: "x" },
      { path: "b", line: 9, text: "xx" },
      { path: "src/a", line: 1, text: "x" },
    ];
    expect(await files.call(grep, { pattern: "x" })).toBe("b\n3\tx\n9\txx\nsrc/a\n1\tx");
    files.found = [
      { path: "b", line: 2, text: "y", near: true },
      { path: "b", line: 3, text: "x" },
      { path: "b", line: 9, text: "x" },
    ];
    expect(await files.call(grep, { pattern: "x", context: 1 })).toBe("b\n2-\ty\n3\tx\n…\n9\tx");
    files.more = true;
    expect(await files.call(grep, { pattern: "x" })).toMatch(
      /\n\[more matches; use a narrower pattern, path or glob\]$/,
    );
    files.found = Array.from({ length: 200 }, (_, index) => ({ path: `f${index}`, line: 1, text: "x".repeat(500) }));
    const long = String(await files.call(grep, { pattern: "x" }));
    expect(long.length).toBeLessThan(50 * 1024);
    expect(long.match(/more matches/g)).toHaveLength(1);
    expect(await callAndGetError(files, grep, { pattern: "x", path: "none" })).toContain("There is no “none”");
  });
});

describe("deleteFile and moveFile", () => {
  test("delete a file, or a folder with everything in it", async () => {
    const files = new FilesDouble({ a: "", "b/c": "", "b/d/e": "", bc: "" });
    expect(await files.call(deleteFile, { path: "a" })).toBe("Deleted a.");
    expect(await files.call(deleteFile, { path: "b/" })).toBe("Deleted b with 2 files.");
    expect([...files.stored.keys()]).toEqual(["bc"]);
    expect(await callAndGetError(files, deleteFile, { path: "b" })).toContain("There is no “b”");
    for (const path of ["/work", ".", "/", "./"])
      expect(await callAndGetError(files, deleteFile, { path })).toContain("The workspace root cannot be deleted");
  });

  test("move a file or folder to a name or into a folder, and keep it marked as seen", async () => {
    const files = new FilesDouble({ a: "text", "b/c": "more", "d/e": "" });
    await files.call(readFile, { path: "a" });
    await files.call(readFile, { path: "b/c" });
    expect(await files.call(moveFile, { from: "a", to: "d" })).toBe("Moved a to d/a.");
    expect(await files.call(moveFile, { from: "b", to: "f/g" })).toBe("Moved b to f/g, 1 file.");
    expect(await files.call(moveFile, { from: "d/e", to: "new/" })).toBe("Moved d/e to new/e.");
    expect(await files.call(moveFile, { from: "new/e", to: "/work" })).toBe("Moved new/e to e.");
    expect([...files.stored.keys()].sort()).toEqual(["d/a", "e", "f/g/c"]);
    expect(await files.call(editFile, { path: "d/a", oldString: "text", newString: "new text" })).toContain(
      "Changed d/a.",
    );
    expect(await files.call(writeFile, { path: "f/g/c", content: "x" })).toContain("Changed");
    expect(await callAndGetError(files, writeFile, { path: "e", content: "x" })).toContain("have not read it");
    expect(await callAndGetError(files, moveFile, { from: "gone", to: "x" })).toContain("There is no “gone”");
    expect(await callAndGetError(files, moveFile, { from: ".", to: "x" })).toContain(
      "The workspace root cannot be moved",
    );
  });
});
