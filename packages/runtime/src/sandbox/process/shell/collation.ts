// LANG is C.UTF-8 here: names and lines are sorted by code unit, as programs that read sorted input expect. The
// interpreter compares with localeCompare and has no option for this; nothing else runs in its isolate.

// oxlint-disable-next-line no-extend-native -- the only way to reach all comparisons
String.prototype.localeCompare = function localeCompare(this: string, other: string): number {
  const text = String(this);
  return text < other ? -1 : text > other ? 1 : 0;
};
