import { type ReactNode, useId } from "react";

interface FieldProps {
  label: string;
  hint?: ReactNode;
  problem?: string | undefined;
  optional?: boolean;
  children(props: { id: string; "aria-describedby": string | undefined; "aria-invalid": true | undefined }): ReactNode;
}

/** A label, its input, what to write there, and what is wrong with what was written. */
export function Field({ label, hint, problem, optional, children }: FieldProps) {
  const id = useId();
  const hintId = `${id}-hint`;
  const problemId = `${id}-problem`;
  const described = problem ? problemId : hint ? hintId : undefined;
  return (
    <div className="field">
      <label htmlFor={id}>
        {label}
        {optional && <span className="faint"> optional</span>}
      </label>
      {children({ id, "aria-describedby": described, "aria-invalid": problem ? true : undefined })}
      {problem && (
        <p className="field-problem" id={problemId}>
          {problem}
        </p>
      )}
      {hint && !problem && (
        <p className="field-hint" id={hintId}>
          {hint}
        </p>
      )}
    </div>
  );
}
