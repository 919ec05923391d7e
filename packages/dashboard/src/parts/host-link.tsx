import type { ComponentProps, MouseEvent } from "react";
import { getErrorMessage } from "../api/login.ts";
import { createTicketUrl } from "../api/ticket.ts";
import { announce } from "../frame/announce.tsx";

interface HostLinkProps extends Omit<ComponentProps<"a">, "href" | "onClick"> {
  href: string;
  /** Opens in a new tab instead of downloading. */
  newTab?: boolean;
}

/** A link to a file, archive or app of the host. A click gets a ticket first: a link cannot send the page's secret. */
export function HostLink({ href, newTab = false, ...rest }: HostLinkProps) {
  const open = async (event: MouseEvent) => {
    event.preventDefault();
    try {
      openUrl(await createTicketUrl(href), newTab);
    } catch (error) {
      announce(getErrorMessage(error));
    }
  };
  return <a {...rest} href={href} onClick={(event) => void open(event)} />;
}

function openUrl(url: string, newTab: boolean): void {
  const link = Object.assign(document.createElement("a"), { href: url });
  if (newTab) Object.assign(link, { target: "_blank", rel: "noopener noreferrer" });
  else link.download = "";
  link.click();
}
