import type { ReactNode } from "react";

/** Placeholder for an empty list: what would be here and how to create it. */
export function Empty({ title, action, children }: { title: string; action?: ReactNode; children: ReactNode }) {
  return (
    <div className="empty">
      <p className="empty-title">{title}</p>
      <div className="empty-text">{children}</div>
      {action}
    </div>
  );
}
