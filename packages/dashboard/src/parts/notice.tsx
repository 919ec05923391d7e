import type { ReactNode } from "react";
import { Button } from "./button.tsx";
import { MessageText } from "./message-text.tsx";

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
          <MessageText text={title} />
        </p>
      )}
      {typeof children === "string" ? (
        <p>
          <MessageText text={children} />
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
