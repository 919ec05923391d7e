interface MeterProps {
  /** What is measured. */
  label: string;
  /** Value for screen readers. */
  valueText: string;
  /** From 0 to 1; above 1 if more was used than the limit. */
  share: number;
  /** Share that is reserved but not used yet. */
  reserved?: number;
}

export type Tone = "calm" | "warn" | "bad";

/** Share from which the meter shows a warning. */
const warnShare = 0.8;

export function getTone(share: number): Tone {
  return share >= 1 ? "bad" : share >= warnShare ? "warn" : "calm";
}

export function Meter({ label, valueText, share, reserved = 0 }: MeterProps) {
  const used = Math.min(1, Math.max(0, share));
  const held = Math.min(1 - used, reserved);
  return (
    <span
      className="meter"
      role="meter"
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={100}
      aria-valuenow={Math.round(used * 100)}
      aria-valuetext={valueText}
      data-tone={getTone(share)}
    >
      {used > 0 && <span className="meter-used" style={{ width: `${used * 100}%` }} />}
      {held > 0 && <span className="meter-reserved" style={{ width: `${held * 100}%` }} />}
    </span>
  );
}
