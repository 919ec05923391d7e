import type { Package, PackageSummary } from "@thinkery/sdk";
import { followAll, followObject, pollWhileVisible } from "./follow.ts";
import { call } from "./host.ts";
import { type Pages, readPages } from "./pages.ts";
import { createSource, type Follow, type Source } from "./source.ts";

/** Short, so that people see what `thinkery agent dev` deploys while they write. */
const pollIntervalMs = 2500;

export function createPackagesSource(agency: string): Source<Pages<PackageSummary>> {
  return createSource(
    () =>
      readPages(async (query) => {
        const { packages, next } = await call("listPackages", { params: { agency }, query });
        return { items: packages, next };
      }),
    followAgency(agency),
  );
}

/** A package with its versions. */
export function createPackageSource(agency: string, name: string): Source<Package> {
  return createSource(() => call("getPackage", { params: { agency, package: name } }), followAgency(agency));
}

function followAgency(agency: string): Follow {
  return followAll(followObject(`/agents/agency/${agency}`), pollWhileVisible(pollIntervalMs));
}
