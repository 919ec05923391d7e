import { usageSegment } from "../../frame/place.ts";
import { lazyView } from "../../parts/lazily.tsx";
import { defineView } from "../define-view.tsx";
import { segmentAddress } from "../view-address.ts";

const UsageView = lazyView(() => import("../usage.tsx").then(({ UsageView }) => UsageView));

export const view = defineView({
  scope: "agency",
  name: "usage",
  label: "Usage",
  order: 90,
  address: segmentAddress(usageSegment),
  Component: UsageView,
});
