import { usageSegment } from "../../frame/navigation.ts";
import { createLazyView } from "../../parts/lazy-component.tsx";
import { defineView } from "../define-view.tsx";
import { createSegmentAddress } from "../view-address.ts";

const UsageView = createLazyView(() => import("../usage.tsx").then(({ UsageView }) => UsageView));

export const view = defineView({
  scope: "host",
  name: "usage",
  label: "Usage and budget",
  icon: "bars",
  order: 90,
  address: createSegmentAddress(usageSegment),
  title: () => "Usage",
  Component: UsageView,
});
