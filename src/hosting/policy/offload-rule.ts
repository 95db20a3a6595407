import Type from 'typebox';
import type { OffloadPath } from '../contract/host.ts';
import { barePath, byPrecedence } from './offload-origin.ts';

export const OffloadRuleSchema = Type.Object({
  /** Segments without `/` at the ends; the empty path matches everything. */
  path: Type.String(),
  excluded: Type.Array(Type.String()),
  type: Type.Enum(['break', 'permanent']),
});

/** Offloads the files at a path and below it. */
export type OffloadRule = Type.Static<typeof OffloadRuleSchema>;

/** The rules of offloaded paths, in the order in which {@link offloadType} tries them. */
export function offloadRulesOf(paths: OffloadPath[]): OffloadRule[] {
  return byPrecedence(paths).map(({ path, excludedPaths, redirectType }) => ({
    path: barePath(path),
    excluded: excludedPaths.map(barePath),
    type: redirectType,
  }));
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
