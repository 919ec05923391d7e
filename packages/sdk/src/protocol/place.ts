/**
 * Places between two events, for the messages one event brings and for the results of a step's tools: what stands
 * where in a conversation can be told from the numbers of the events alone.
 */
export const placesPerEvent = 1000;
