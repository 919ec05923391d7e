import { createLazyView } from "../../parts/lazy-component.tsx";
import { defineView } from "../define-view.tsx";
import { createSegmentAddress } from "../view-address.ts";

const AccessView = createLazyView(() => import("../access.tsx").then(({ AccessView }) => AccessView));

export const view = defineView({
  scope: "host",
  name: "access",
  label: "Logins and tokens",
  icon: "person",
  order: 95,
  address: createSegmentAddress("~access"),
  title: () => "Logins and tokens",
  Component: AccessView,
});
