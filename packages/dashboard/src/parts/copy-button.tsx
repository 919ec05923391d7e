import { useEffect, useState } from "react";
import { announce } from "../frame/announce.tsx";
import { Button } from "./button.tsx";

const feedbackMs = 2000;

interface CopyButtonProps {
  /** What is copied; a function if it is long. */
  text: string | (() => string);
  /** For screen readers: what is copied. */
  label: string;
  disabled?: boolean;
}

/** Copies a text to the clipboard, and says whether that worked. */
export function CopyButton({ text, label, disabled }: CopyButtonProps) {
  const [outcome, setOutcome] = useState<"Copied" | "Not allowed">();

  useEffect(() => {
    if (!outcome) return;
    const timer = setTimeout(() => setOutcome(undefined), feedbackMs);
    return () => clearTimeout(timer);
  }, [outcome]);

  const copy = async () => {
    try {
      // Undefined unless the page came over HTTPS or from this machine.
      await navigator.clipboard.writeText(typeof text === "string" ? text : text());
      setOutcome("Copied");
      announce("Copied.");
    } catch {
      setOutcome("Not allowed");
      announce("The browser does not allow copying here. Select the text instead.");
    }
  };

  return (
    <Button kind="quiet" aria-label={label} disabled={disabled} onClick={() => void copy()}>
      {outcome ?? "Copy"}
    </Button>
  );
}
