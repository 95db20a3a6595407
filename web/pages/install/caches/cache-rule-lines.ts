import type { CacheRules } from '../../../api/rules.ts';
import { linesOf } from '../../../components/lines.ts';

type Paths = CacheRules['uncached_paths'];

/** The paths as lines: `/a/` for one page, `/a/*` for everything below, too. */
export function pathLines(paths: Paths): string {
  return paths
    .map(({ match, path }) => (match === 'prefix' ? `${path.replace(/\/+$/, '')}/*` : path))
    .join('\n');
}

/** Reads lines of {@link pathLines}. The server checks the paths. */
export function readPathLines(text: string): Paths {
  return linesOf(text).map((line) =>
    line.endsWith('/*')
      ? { match: 'prefix' as const, path: line.slice(0, -2) || '/' }
      : { match: 'exact' as const, path: line },
  );
}
