/** Below 0 if `a` is older. `6.2` equals `6.2.0`. */
export function compareVersions(a: string, b: string): number {
  const left = a.split('.').map(Number);
  const right = b.split('.').map(Number);
  for (let at = 0; at < 3; at++) {
    const difference = (left[at] ?? 0) - (right[at] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

/** The releases with the same first two numbers: `6.8` of 6.8.3. WordPress fixes security faults within a branch. */
export function branchOf(version: string): string {
  return version.split('.').slice(0, 2).join('.');
}
