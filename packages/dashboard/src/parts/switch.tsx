import { useId } from "react";
import "../styles/switch.css";

interface SwitchProps<T extends string | number> {
  label: string;
  options: readonly (readonly [value: T, label: string])[];
  value: T;
  onChange(value: T): void;
}

/** A choice of a few options, all of which are visible. */
export function Switch<T extends string | number>({ label, options, value, onChange }: SwitchProps<T>) {
  const name = useId();
  return (
    <fieldset className="switch">
      <legend className="visually-hidden">{label}</legend>
      {options.map(([option, text]) => (
        <label key={option}>
          <input
            type="radio"
            name={name}
            className="visually-hidden"
            checked={option === value}
            onChange={() => onChange(option)}
          />
          <span>{text}</span>
        </label>
      ))}
    </fieldset>
  );
}
