import { Fragment, type ReactNode } from "react";

/** Names and values, one below the other. */
export function DescriptionList({ of }: { of: readonly (readonly [name: string, value: ReactNode])[] }) {
  return (
    <dl className="particulars">
      {of.map(([name, value]) => (
        <Fragment key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </Fragment>
      ))}
    </dl>
  );
}
