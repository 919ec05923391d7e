interface MeterProps {
  /** What is measured. */
  label: string;
  /** How far it is, for those who hear it. */
  words: string;
  /** From 0 to 1, and over where more was used than there is. */
  share: number;
  /** A part that is taken and not used yet. */
  aside?: number;
}

export type Tone = "calm" | "warn" | "bad";

/** From here on people should know before it is too late. */
const warnShare = 0.8;

export function getTone(share: number): Tone {
  return share >= 1 ? "bad" : share >= warnShare ? "warn" : "calm";
}

/** A small bar that fills up. */
export function Meter({ label, words, share, aside = 0 }: MeterProps) {
  const used = Math.min(1, Math.max(0, share));
  const held = Math.min(1 - used, aside);
  return (
    <span
      className="meter"
      role="meter"
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={100}
      aria-valuenow={Math.round(used * 100)}
      aria-valuetext={words}
      data-tone={getTone(share)}
    >
      {used > 0 && <span className="meter-used" style={{ width: `${used * 100}%` }} />}
      {held > 0 && <span className="meter-aside" style={{ width: `${held * 100}%` }} />}
    </span>
  );
}
