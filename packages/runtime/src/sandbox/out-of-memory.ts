// V8 says the first and the last, the platform's own classes the one between.
const outOfMemoryPattern = /allocation failed|failed to allocate|out of memory/i;

/** Is this what a run says that has left no memory for the next? What it took is not given back at once. */
export const isOutOfMemory = (message: string): boolean => outOfMemoryPattern.test(message);
