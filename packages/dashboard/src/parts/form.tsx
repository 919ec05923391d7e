import { type FormEvent, type ReactNode, useEffect, useRef, useState } from "react";
import { Button } from "./button.tsx";
import { Notice } from "./notice.tsx";
import { type SortedProblems, sortProblems } from "./problems.ts";

interface FormProps {
  /** The names of the fields, as the host calls them. */
  fields: readonly string[];
  action: string;
  danger?: boolean;
  ready?: boolean;
  onSubmit(values: Record<string, string>): Promise<void>;
  onCancel?(): void;
  children(problems: SortedProblems["byField"]): ReactNode;
}

/** Sends once, keeps what was typed when that fails, and shows each problem at its field. */
export function Form({ fields, action, danger, ready = true, onSubmit, onCancel, children }: FormProps) {
  const form = useRef<HTMLFormElement>(null);
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const { byField, rest } = sortProblems(error, fields);

  useEffect(() => {
    form.current?.querySelector<HTMLElement>("[aria-invalid]")?.focus();
  }, [error]);

  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const values = readValues(event.currentTarget);
    setBusy(true);
    setError(undefined);
    try {
      await onSubmit(values);
    } catch (failure) {
      setError(failure);
    } finally {
      setBusy(false);
    }
  };

  return (
    <form ref={form} className="form" onSubmit={(event) => void submit(event)} noValidate>
      {children(byField)}
      <div role="alert">{rest && <Notice tone="bad">{rest}</Notice>}</div>
      <div className="form-actions">
        {onCancel && <Button onClick={onCancel}>Cancel</Button>}
        <Button type="submit" kind={danger ? "danger" : "main"} busy={busy} disabled={!ready}>
          {action}
        </Button>
      </div>
    </form>
  );
}

/** What was typed, without the fields left empty: to the host, empty means not said. */
function readValues(form: HTMLFormElement): Record<string, string> {
  const values: Record<string, string> = {};
  for (const [name, value] of new FormData(form)) {
    if (typeof value === "string" && value.trim() !== "") values[name] = value.trim();
  }
  return values;
}
