/// <reference types="vite/client" />
import type { AnyView } from "./define-view.tsx";
import { createViewRegistry } from "./view-registry.ts";

/** Every view of the page. To add one, add a file to one of these folders. */
export const allViews = Object.values(
  import.meta.glob<AnyView>("./{host,agency,agent}/*.view.tsx", { eager: true, import: "view" }),
);

export const viewRegistry = createViewRegistry(allViews);
