import { NOTICE_PAGES } from './well-known.ts';

/**
 * Looking up a file costs more than a cached page, because nginx checks every folder of its path for links. So each worker remembers
 * `most` results until the end of the second. It opens each file again before serving it, so a remembered result is never served.
 */
export function renderLookup(most: number): string {
  return `open_file_cache max=${most} inactive=5s;
    open_file_cache_valid 1s;
    open_file_cache_errors on;`;
}

/**
 * Existing files leave by a status that nothing else uses, and are served elsewhere; WordPress answers the rest. So the lookup of
 * WordPress's own `index.php`, which answers nearly everything, is skipped.
 */
export function renderMissing(condition: string): string {
  return `if (${condition}) {
        return 419;
    }
    rewrite ^ /index.php last;
    error_page 419 = @present;
    ${NOTICE_PAGES}`;
}
