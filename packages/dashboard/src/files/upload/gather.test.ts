import { expect, test } from "vitest";
import { gatherDropped, gatherPicked } from "./gather.ts";

const createFileList = (...paths: string[]) =>
  paths.map((path) => ({
    name: path.split("/").at(-1),
    webkitRelativePath: path.includes("/") ? path : "",
  })) as unknown as FileList;

test("files of a picked folder keep their paths, and ignored ones are counted", () => {
  const { files, skipped } = gatherPicked(
    createFileList(
      "a.txt",
      "app/src/main.ts",
      "app/.git/HEAD",
      "app/node_modules/x/index.js",
      "app/.gitignore",
      "app/.DS_Store",
    ),
  );
  expect(files.map(({ path }) => path)).toEqual(["a.txt", "app/src/main.ts", "app/.gitignore"]);
  expect(skipped).toEqual({ ignored: 3, overLimit: 0, unreadable: 0 });
});

test("at most a thousand files are taken at once, and the rest is counted", () => {
  const { files, skipped } = gatherPicked(
    createFileList("node_modules/x.js", ...Array.from({ length: 1003 }, (_, index) => `f${index}`)),
  );
  expect([files.length, skipped]).toEqual([1000, { ignored: 1, overLimit: 3, unreadable: 0 }]);
});

test("readable files of a dropped folder are taken at any depth, and unreadable ones are counted", async () => {
  const file = (name: string) => ({ name, isFile: true, file: (done: (file: unknown) => void) => done({ name }) });
  const broken = {
    name: "locked",
    isFile: true,
    file: (_: unknown, failed: (error: Error) => void) => failed(new Error("no")),
  };
  const folder = (name: string, ...contents: unknown[]) => {
    const pages = [contents.slice(0, 1), contents.slice(1), []];
    return {
      name,
      isFile: false,
      createReader: () => ({ readEntries: (done: (page: unknown) => void) => done(pages.shift()) }),
    };
  };
  const items = [folder("app", file("a"), folder("src", broken, file("b")), folder(".git", file("HEAD")))].map(
    (entry) => ({ kind: "file", webkitGetAsEntry: () => entry }),
  );
  const { files, skipped } = await gatherDropped(items as unknown as DataTransferItemList, createFileList());
  expect(files.map(({ path }) => path)).toEqual(["app/a", "app/src/b"]);
  expect(skipped).toEqual({ ignored: 1, overLimit: 0, unreadable: 1 });
});
