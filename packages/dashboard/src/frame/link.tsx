import type { ComponentProps, MouseEvent } from "react";
import { navigate } from "./navigation.ts";

/** A link that navigates within the page, unless the user opens it in a new tab or window. */
export function Link({ href, onClick, ...rest }: ComponentProps<"a"> & { href: string }) {
  const handleClick = (event: MouseEvent<HTMLAnchorElement>) => {
    onClick?.(event);
    if (event.defaultPrevented || event.button !== 0) return;
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    navigate(href);
  };
  return <a {...rest} href={href} onClick={handleClick} />;
}
