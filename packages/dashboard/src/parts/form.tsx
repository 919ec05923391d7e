import { type FormEvent, type ReactNode, useEffect, useRef, useState } from "react";
import { Button } from "./button.tsx";
import { type FormErrors, toFormErrors } from "./form-errors.ts";
import { Notice } from "./notice.tsx";

interface FormProps {
  /** Field names as in the host's API. */
  fields: readonly string[];
  action: string;
  danger?: boolean;
  ready?: boolean;
  onSubmit(values: Record<string, string>): Promise<void>;
  onCancel?(): void;
  children(errors: FormErrors["byField"]): ReactNode;
}

/** Submits once at a time, keeps the input if that fails, and shows each error at its field. */
export function Form({ fields, action, danger, ready = true, onSubmit, onCancel, children }: FormProps) {
  const form = useRef<HTMLFormElement>(null);
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const { byField, general } = toFormErrors(error, fields);

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
    } catch (error) {
      setError(error);
    } finally {
      setBusy(false);
    }
  };

  return (
    <form ref={form} className="form" onSubmit={(event) => void submit(event)} noValidate>
      {children(byField)}
      <div role="alert">{general && <Notice tone="bad">{general}</Notice>}</div>
      <div className="form-actions">
        {onCancel && <Button onClick={onCancel}>Cancel</Button>}
        <Button type="submit" kind={danger ? "danger" : "main"} busy={busy} disabled={!ready}>
          {action}
        </Button>
      </div>
    </form>
  );
}

/** Empty fields are omitted, so that the host treats them as not set. */
function readValues(form: HTMLFormElement): Record<string, string> {
  const values: Record<string, string> = {};
  for (const [name, value] of new FormData(form)) {
    if (typeof value === "string" && value.trim() !== "") values[name] = value.trim();
  }
  return values;
}
