import type { ReactNode } from "react";
import "../styles/figures.css";

interface FigureProps {
  name: string;
  value: ReactNode;
  title?: string;
  /** What the value is based on. */
  children?: ReactNode;
}

/** A number with its name, in a list of class `figures`. */
export function Figure({ name, value, title, children }: FigureProps) {
  return (
    <div className="figure">
      <dt>{name}</dt>
      <dd className="figure-value" title={title}>
        {value}
      </dd>
      {children && <dd className="figure-more">{children}</dd>}
    </div>
  );
}
