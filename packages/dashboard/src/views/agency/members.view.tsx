import { createLazyView } from "../../parts/lazy-component.tsx";
import { defineView } from "../define-view.tsx";
import { createSegmentAddress } from "../view-address.ts";

const MembersView = createLazyView(() =>
  import("../../members/members-view.tsx").then(({ MembersView }) => MembersView),
);

export const view = defineView({
  scope: "agency",
  name: "members",
  label: "Members",
  order: 80,
  address: createSegmentAddress("~members"),
  Component: MembersView,
});
