import type { ReactNode } from "react";
import { Button } from "./button.tsx";
import { Said } from "./said.tsx";

interface NoticeProps {
  tone: "bad" | "warn" | "plain";
  title?: string;
  onRetry?: () => void;
  children: ReactNode;
}

export function Notice({ tone, title, onRetry, children }: NoticeProps) {
  return (
    <div className="notice" data-tone={tone}>
      {title && (
        <p className="notice-title">
          <Said text={title} />
        </p>
      )}
      {typeof children === "string" ? (
        <p>
          <Said text={children} />
        </p>
      ) : (
        <div>{children}</div>
      )}
      {onRetry && (
        <Button kind="quiet" onClick={onRetry}>
          Try again
        </Button>
      )}
    </div>
  );
}
