import Type from 'typebox';
import type { OffloadPath } from '../contract/install-state.ts';

export const OffloadRuleSchema = Type.Object({
  /** Segments without `/` at the ends; the empty path matches everything. */
  path: Type.String(),
  excluded: Type.Array(Type.String()),
  type: Type.Enum(['break', 'permanent']),
});

/** Offloads the files at a path and below it. */
export type OffloadRule = Type.Static<typeof OffloadRuleSchema>;

/** The rules of offloaded paths, the longest path first; of equal ones, the first. */
export function offloadRulesOf(paths: OffloadPath[]): OffloadRule[] {
  const rules = paths.map(({ path, excludedPaths, redirectType }) => ({
    path: barePath(path),
    excluded: excludedPaths.map(barePath),
    type: redirectType,
  }));
  return rules.toSorted((one, other) => other.path.length - one.path.length);
}

/** The segments of a path, without empty ones: `/a//b/` is `a/b`. */
function barePath(path: string): string {
  return path
    .split('/')
    .filter((segment) => segment !== '')
    .join('/');
}

/**
 * How a path is offloaded, or null if it stays on the install. The first rule that matches counts. `relative`: the decoded path without
 * empty segments. Folders stay too, because a bucket has none.
 */
export function offloadType(
  rules: readonly OffloadRule[],
  { relative, folder }: { relative: string; folder: boolean },
): OffloadRule['type'] | null {
  const rule = folder ? undefined : rules.find(({ path }) => isBelow(relative, path));
  if (rule === undefined || rule.excluded.some((path) => isBelow(relative, path))) return null;
  return rule.type;
}

/** At segment borders: `up` holds `up/a` and not `upper`. */
function isBelow(relative: string, base: string): boolean {
  return base === '' || relative === base || relative.startsWith(`${base}/`);
}
