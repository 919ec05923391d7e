import { packagesSegment } from "../../frame/navigation.ts";
import { createLazyView } from "../../parts/lazy-component.tsx";
import { type AgencyViewProps, defineView } from "../define-view.tsx";
import type { ViewAddress } from "../view-address.ts";

const PackagesView = createLazyView(() =>
  import("../../packages/packages-view.tsx").then(({ PackagesView }) => PackagesView),
);
const PackageView = createLazyView(() =>
  import("../../packages/package-view.tsx").then(({ PackageView }) => PackageView),
);

/** The package to show; the list of them without one. */
interface PackagesParams {
  name?: string;
}

const packagesAddress: ViewAddress<PackagesParams> = {
  segments: [packagesSegment],
  initial: {},
  parse([, name, ...rest]) {
    if (rest.length > 0) return undefined;
    return name === undefined ? {} : { name };
  },
  build: ({ name }) => `/${packagesSegment}${name === undefined ? "" : `/${encodeURIComponent(name)}`}`,
};

export const view = defineView({
  scope: "agency",
  name: "packages",
  label: "Packages",
  order: 20,
  address: packagesAddress,
  title: ({ name }) => name ?? "Packages",
  Component: AgencyPackages,
});

function AgencyPackages({ agency, params: { name } }: AgencyViewProps & { params: PackagesParams }) {
  return name === undefined ? <PackagesView agency={agency} /> : <PackageView key={name} agency={agency} name={name} />;
}
