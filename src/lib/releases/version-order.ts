const VERSION = /^(\d+)\.(\d+)\.(\d+)(-dev)?(\+[0-9a-f]+)?$/;

/** Whether a version comes after another. One of development comes before its release. Throws an Error for a text that is no version. */
export function isLater(version: string, than: string): boolean {
  const [first, second] = [partsOf(version), partsOf(than)];
  for (const index of [1, 2, 3]) {
    const difference = Number(first[index]) - Number(second[index]);
    if (difference !== 0) return difference > 0;
  }
  return first[4] === undefined && second[4] !== undefined;
}

/** Its numbers from place 1 on, and `-dev` in place 4. A commit after `+` has no order. */
export function partsOf(version: string): RegExpExecArray {
  const parts = VERSION.exec(version);
  if (parts === null) throw new Error(`"${version}" is no version such as 0.4.0 or 0.4.0-dev.`);
  return parts;
}
