import type { Static } from 'typebox';
import type { Queries } from '../../../../database/database.ts';
import { PAGE_SECONDS } from '../../../../hosting/contract/website-rules.ts';
import { FAULTS_TOLD, type Fault, INVALID_PARAMETERS, InvalidRequest } from '../../../../lib/failures.ts';
import type { Platform } from '../../../../platform/platform.ts';
import { purgeCache } from '../../caches/jobs.ts';
import { findWebsite } from '../../installs/website-store.ts';
import { createRulesChange, type RulesOf } from '../change-rules.ts';
import { decodedPath, encodedRulePath, faultOfRulePath } from '../rule-paths.ts';
import type { StoredCacheRules } from '../stored-rules.ts';
import type { updateCacheRulesBody } from './schema.ts';

export type CacheRulesChange = Static<(typeof updateCacheRulesBody)['schema']>;

export type CacheRulesService = ReturnType<typeof createCacheRulesService>;

const USUAL: StoredCacheRules = {
  uncached_paths: [],
  bypass_cookies: [],
  ignored_parameters: [],
  max_age: PAGE_SECONDS.usual,
};

export function createCacheRulesService(platform: Platform) {
  const { queue } = platform;
  const { read, change } = createRulesChange(platform);

  return {
    async get(of: RulesOf): Promise<StoredCacheRules> {
      const { rules } = await read(of);
      return present(rules.cache_rules ?? USUAL);
    },

    /** Changes the given fields, and purges the page cache, so that no page stays from before. */
    async update(
      of: RulesOf,
      asked: CacheRulesChange,
    ): Promise<{ cacheRules: StoredCacheRules; operationId: string | null }> {
      requirePaths(asked);
      const { operationId, rules } = await change(
        of,
        async (before, { id }, { queries }) => {
          const former = before.cache_rules ?? USUAL;
          const wanted = changed(former, asked);
          if (!isUsual(wanted)) await requirePageCache(queries, id);
          return {
            rules: { ...before, cache_rules: isUsual(wanted) ? null : wanted },
            action: 'cache.rules',
            details: detailsOf(former, wanted),
            result: undefined,
          };
        },
        async (transaction, { id }) => {
          await queue.enqueue(transaction, purgeCache, {
            payload: { install_id: id, cache: 'page' },
            lane: id,
            result: { cache: 'page' },
          });
        },
      );
      return { cacheRules: present(rules.cache_rules ?? USUAL), operationId };
    },
  };
}

/** The PHP version of a pending install is not known yet. */
async function requirePageCache(queries: Queries, id: string): Promise<void> {
  const install = await findWebsite(queries, { id });
  if (install?.status !== 'active' || install.php_version !== null) return;
  throw new InvalidRequest(
    'The host of this install serves files only, so it caches no pages. Cache rules need WordPress, on a Linux host.',
  );
}

function requirePaths({ uncached_paths = [] }: CacheRulesChange): void {
  const faults = uncached_paths.flatMap(({ path }, index): Fault[] => {
    const fault = faultOfRulePath(path);
    if (fault === undefined) return [];
    return [
      { resource: 'CacheRules', field: `uncached_paths.${index}.path`, type: 'invalid_value', ...fault },
    ];
  });
  if (faults.length > 0) throw new InvalidRequest(INVALID_PARAMETERS, faults.slice(0, FAULTS_TOLD));
}

function changed(present: StoredCacheRules, asked: CacheRulesChange): StoredCacheRules {
  return {
    uncached_paths:
      asked.uncached_paths?.map(({ match, path }) => ({ match, path: decodedPath(path) ?? path })) ??
      present.uncached_paths,
    bypass_cookies: unique(asked.bypass_cookies ?? present.bypass_cookies),
    ignored_parameters: unique(asked.ignored_parameters ?? present.ignored_parameters),
    max_age: asked.max_age ?? present.max_age,
  };
}

/** With paths as a request may write them. */
function present({ uncached_paths, ...rules }: StoredCacheRules): StoredCacheRules {
  return {
    uncached_paths: uncached_paths.map(({ match, path }) => ({ match, path: encodedRulePath(path) })),
    ...rules,
  };
}

const unique = (names: readonly string[]) => [...new Set(names)];

function isUsual(rules: StoredCacheRules): boolean {
  const { uncached_paths, bypass_cookies, ignored_parameters, max_age } = rules;
  const count = uncached_paths.length + bypass_cookies.length + ignored_parameters.length;
  return count === 0 && max_age === USUAL.max_age;
}

/** The number of entries of each list that changed. */
function detailsOf(before: StoredCacheRules, after: StoredCacheRules): Record<string, number> {
  const details: Record<string, number> = {};
  for (const field of ['uncached_paths', 'bypass_cookies', 'ignored_parameters'] as const) {
    if (JSON.stringify(before[field]) !== JSON.stringify(after[field])) details[field] = after[field].length;
  }
  if (before.max_age !== after.max_age) details.max_age = after.max_age;
  return details;
}
