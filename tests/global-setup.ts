import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A folder that all test files of a run share; removed when the run ends. */
export default function setup(): () => void {
  process.env.TEST_RUN_FOLDER ??= mkdtempSync(join(tmpdir(), "thinkery-test-run-"));
  const folder = process.env.TEST_RUN_FOLDER;
  return () => rmSync(folder, { recursive: true, force: true });
}
