import type { ComponentProps } from "react";

interface ButtonProps extends ComponentProps<"button"> {
  kind?: "main" | "plain" | "quiet" | "danger";
  busy?: boolean;
}

export function Button({ kind = "plain", busy = false, children, ...rest }: ButtonProps) {
  return (
    <button
      type="button"
      {...rest}
      className="button"
      data-kind={kind}
      aria-busy={busy || undefined}
      disabled={busy || rest.disabled}
    >
      {children}
    </button>
  );
}
