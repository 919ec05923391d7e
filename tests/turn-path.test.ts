import { existsSync, readFileSync } from "node:fs";
import { dirname } from "node:path";
import { expect, test } from "vitest";

// Checks that the walk through a turn in docs/02-turn.md names real files and stays short.

const root = new URL("..", import.meta.url);

test("the docs name the files of a turn, at most 40 with 25 changes of directory", () => {
  const text = readFileSync(new URL("docs/02-turn.md", root), "utf8");
  const rows = text.split("\n").filter((line) => /^\| \d+ \|/.test(line));
  const files = rows.flatMap((row) =>
    Array.from((row.split("|")[2] ?? "").matchAll(/`([^`]+\.ts)`/g), ([, file]) => file as string),
  );
  expect(files.filter((file) => !existsSync(new URL(`packages/runtime/src/${file}`, root)))).toEqual([]);
  const changes = files.filter(
    (file, index) => index > 0 && dirname(file) !== dirname(files[index - 1] as string),
  ).length;
  expect(text).toContain(`That is ${files.length} files and ${changes} changes of directory.`);
  expect(files.length).toBeLessThanOrEqual(40);
  expect(changes).toBeLessThanOrEqual(25);
});
