/** A house under a thought cloud, after Aristophanes' “Clouds”. Same drawing as favicon.svg. */
export function Logo({ size = 28 }: { size?: number }) {
  return (
    <svg className="logo" viewBox="0 0 32 32" width={size} height={size} aria-hidden="true">
      <path
        className="logo-house"
        d="M2 20.6 12 12.4l10 8.2v7.6a1.8 1.8 0 0 1-1.8 1.8h-4.9v-4.6a3.3 3.3 0 0 0-6.6 0V30H3.8A1.8 1.8 0 0 1 2 28.2z"
      />
      <path
        className="logo-thought"
        d="M14.6 11.6a3.8 3.8 0 0 1-.4-7.55 5.4 5.4 0 0 1 9.7-2 4.6 4.6 0 0 1 6.3 4.2 2.9 2.9 0 0 1-.5 5.35z"
      />
      <circle className="logo-thought" cx="21.4" cy="15.4" r="1.7" />
    </svg>
  );
}
