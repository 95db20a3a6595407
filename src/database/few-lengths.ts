/** From here on, lengths are multiples of it. SQLite allows 32,766 values in a statement. */
const STEP = 4_096;

/**
 * The same values, with the last one repeated until they have one of few lengths. Both databases keep each statement for its next use, and
 * statements with another number of values are others: with 10,000 values, each would keep a megabyte.
 */
export function ofFewLengths<Value>(values: readonly Value[]): readonly Value[] {
  const last = values.at(-1);
  if (last === undefined) return values;
  const { length } = values;
  const wanted = length > STEP ? Math.ceil(length / STEP) * STEP : 2 ** Math.ceil(Math.log2(length));
  return [...values, ...Array.from({ length: wanted - length }, () => last)];
}
