const MOST = 1_000;
/** Of a text that is remembered, in characters. */
const LONGEST = 256;

/**
 * Remembers what a pure function makes of texts. Clients choose the texts, which are few in practice, and at most 1,000 are kept.
 * Results are shared, so callers must not change them.
 */
export function remembered<Result>(compute: (text: string) => Result): (text: string) => Result {
  const results = new Map<string, Result>();
  return (text) => {
    const known = results.get(text);
    if (known !== undefined) return known;
    const result = compute(text);
    if (text.length <= LONGEST) {
      if (results.size >= MOST) results.clear();
      results.set(text, result);
    }
    return result;
  };
}
