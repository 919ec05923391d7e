import type { AgentCapability, PackageVersion } from "@thinkery/sdk";
import { expect, test } from "vitest";
import { compareVersions } from "./compare-versions.ts";

const createVersion = (version: number, ...capabilities: AgentCapability[]): PackageVersion => ({
  version,
  capabilities,
  hash: "",
  bytes: 1,
  deployedAt: "2026-01-01T00:00:00.000Z",
  deployedBy: "owner",
  isCurrent: false,
});

const versions = [createVersion(4, "ai", "fetch"), createVersion(2, "ai", "bash"), createVersion(1)];

test("a version is compared with the one before it, whatever their numbers", () => {
  expect(compareVersions(versions, 0)).toEqual({ since: 2, added: ["fetch"], removed: ["bash"] });
  expect(compareVersions(versions, 1)).toEqual({ since: 1, added: ["ai", "bash"], removed: [] });
});

test("the first version asks for nothing more than another", () => {
  expect(compareVersions(versions, 2)).toEqual({ since: undefined, added: [], removed: [] });
  expect(compareVersions([], 0)).toEqual({ since: undefined, added: [], removed: [] });
});
