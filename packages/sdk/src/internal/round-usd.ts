/** Rounds an amount to nanodollars, so that sums of binary fractions do not show as 0.015019000000000001. */
export function roundUsd(amount: number): number {
  return Math.round(amount * 1e9) / 1e9;
}
