import type { OffloadPath } from '../contract/host.ts';

/**
 * How a path is offloaded, or null if it stays on the install. The rule with the longest prefix applies; of equal ones, the
 * first. `relative`: the decoded path without empty segments. Folders stay too, because a bucket has none.
 */
export function offloadType(
  paths: OffloadPath[],
  { relative, folder }: { relative: string; folder: boolean },
): OffloadPath['redirectType'] | null {
  if (folder) return null;
  let chosen: OffloadPath | null = null;
  for (const rule of paths) {
    const longer = chosen === null || bare(rule.path).length > bare(chosen.path).length;
    if (longer && isBelow(relative, rule.path)) chosen = rule;
  }
  if (chosen === null || chosen.excludedPaths.some((excluded) => isBelow(relative, excluded))) return null;
  return chosen.redirectType;
}

/** Whether `relative` is the path `prefix` or lies below it: `/up` holds `up/a` and not `upper`. */
function isBelow(relative: string, prefix: string): boolean {
  const base = bare(prefix);
  return base === '' || relative === base || relative.startsWith(`${base}/`);
}

function bare(prefix: string): string {
  return prefix
    .split('/')
    .filter((segment) => segment !== '')
    .join('/');
}
