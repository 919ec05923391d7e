/**
 * Tools that get nothing done by themselves: they write to others, or read what is there. A turn that used no other tool
 * has made no progress.
 */
export const quietTools: readonly string[] = [
  "channel_send",
  "channel_read",
  "my_inbox",
  "my_inbox_ack",
  "my_inbox_defer",
  "my_status_set",
  "feedback",
  "set_title",
  "team_doc_list",
  "team_doc_read",
  "team_task_list",
  "resource_read",
];
