/// <reference types="vite/client" />
import type { AnyView } from "./define-view.tsx";
import { createViewRegistry } from "./view-registry.ts";

/** Every view of the page. A file in one of these folders is all it takes to add one. */
export const allViews = Object.values(
  import.meta.glob<AnyView>("./{host,agency,agent}/*.view.tsx", { eager: true, import: "view" }),
);

export const viewRegistry = createViewRegistry(allViews);
