// V8 says the first and the last, the platform's own classes the one between.
const words = /allocation failed|failed to allocate|out of memory/i;

/** Is this what a run says that has left no memory for the next? What it took is not given back at once. */
export const leavesNoMemory = (message: string): boolean => words.test(message);
