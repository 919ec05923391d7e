import type { Result } from "@thinkery/sdk/react";
import type { ReactNode } from "react";
import { formatBytes } from "../../parts/amount.ts";
import { HostLink } from "../../parts/host-link.tsx";

/** A section of a call, such as its input or output, with a title. */
export function Part({
  title,
  tone,
  more,
  children,
}: {
  title: ReactNode;
  tone?: "bad";
  more?: ReactNode;
  children: string;
}) {
  return (
    <div>
      <p className="call-part">{title}</p>
      <pre className="text" data-tone={tone} tabIndex={0} dir="ltr">
        {children}
      </pre>
      {more}
    </div>
  );
}

// Only offered as a download, never opened as a page: the result of a tool may contain anything.
export function DownloadLink({ result, blobs }: { result: Result; blobs: string }) {
  if (!result.blob) return null;
  return (
    <HostLink href={`${blobs}/${encodeURIComponent(result.blob)}`}>
      Download full output ({formatBytes(result.size)})
    </HostLink>
  );
}
