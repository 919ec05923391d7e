import { Fragment, type ReactNode } from "react";

export function DescriptionList({ of }: { of: readonly (readonly [name: string, value: ReactNode])[] }) {
  return (
    <dl className="description-list">
      {of.map(([name, value]) => (
        <Fragment key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </Fragment>
      ))}
    </dl>
  );
}
