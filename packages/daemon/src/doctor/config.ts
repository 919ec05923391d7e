import { formatPath } from "../cli/format-path.ts";
import { loadConfig } from "../config/load.ts";
import type { Finding, CheckContext } from "./finding.ts";

const name = "configuration";

export async function checkConfig({ home, cwd }: CheckContext): Promise<Finding> {
  try {
    const { files } = await loadConfig(home.path, cwd);
    return {
      name,
      state: "ok",
      message: files.map((file) => formatPath(file)).join(", ") || "no files (using defaults)",
    };
  } catch (error) {
    return {
      name,
      state: "fail",
      message: (error as Error).message,
      fix: "Fix that line; `thinkery config schema` prints the allowed keys and values.",
    };
  }
}
