import { expect, test } from "vitest";
import { gatherDropped, gatherPicked } from "./gather.ts";

const createFileList = (...paths: string[]) =>
  paths.map((path) => ({
    name: path.split("/").at(-1),
    webkitRelativePath: path.includes("/") ? path : "",
  })) as unknown as FileList;

test("files of a chosen folder keep their paths, and what nobody means to upload is left out and counted", () => {
  const { given, left } = gatherPicked(
    createFileList(
      "a.txt",
      "app/src/main.ts",
      "app/.git/HEAD",
      "app/node_modules/x/index.js",
      "app/.gitignore",
      "app/.DS_Store",
    ),
  );
  expect(given.map(({ path }) => path)).toEqual(["a.txt", "app/src/main.ts", "app/.gitignore"]);
  expect(left).toEqual({ unmeant: 3, beyond: 0, unread: 0 });
});

test("no more than a thousand are taken at once, and the rest is counted", () => {
  const { given, left } = gatherPicked(
    createFileList("node_modules/x.js", ...Array.from({ length: 1003 }, (_, index) => `f${index}`)),
  );
  expect([given.length, left]).toEqual([1000, { unmeant: 1, beyond: 3, unread: 0 }]);
});

test("of a dropped folder that which can be read is taken, however deep it is, and what cannot is counted", async () => {
  const file = (name: string) => ({ name, isFile: true, file: (done: (file: unknown) => void) => done({ name }) });
  const broken = {
    name: "locked",
    isFile: true,
    file: (_: unknown, failed: (error: Error) => void) => failed(new Error("no")),
  };
  const folder = (name: string, ...inside: unknown[]) => {
    const pages = [inside.slice(0, 1), inside.slice(1), []];
    return {
      name,
      isFile: false,
      createReader: () => ({ readEntries: (done: (page: unknown) => void) => done(pages.shift()) }),
    };
  };
  const items = [folder("app", file("a"), folder("src", broken, file("b")), folder(".git", file("HEAD")))].map(
    (entry) => ({ kind: "file", webkitGetAsEntry: () => entry }),
  );
  const { given, left } = await gatherDropped(items as unknown as DataTransferItemList, createFileList());
  expect(given.map(({ path }) => path)).toEqual(["app/a", "app/src/b"]);
  expect(left).toEqual({ unmeant: 1, beyond: 0, unread: 1 });
});
