import { inboxSegment } from "../../frame/navigation.ts";
import { InboxBadge } from "../../inbox/inbox-badge.tsx";
import { InboxView } from "../../inbox/inbox-view.tsx";
import { defineView } from "../define-view.tsx";
import { createSegmentAddress } from "../view-address.ts";

export const view = defineView({
  scope: "host",
  name: "inbox",
  label: "Inbox",
  icon: "inbox",
  order: 10,
  address: createSegmentAddress(inboxSegment),
  Badge: InboxBadge,
  Component: InboxView,
});
