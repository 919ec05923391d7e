import { usageSegment } from "../../frame/navigation.ts";
import { createLazyView } from "../../parts/lazy-component.tsx";
import { defineView } from "../define-view.tsx";
import { createSegmentAddress } from "../view-address.ts";

const UsageView = createLazyView(() => import("../usage.tsx").then(({ UsageView }) => UsageView));

export const view = defineView({
  scope: "agency",
  name: "usage",
  label: "Usage",
  order: 90,
  address: createSegmentAddress(usageSegment),
  Component: UsageView,
});
