import { domainToASCII } from 'node:url';
import type { Static } from 'typebox';
import type { Caller } from '../../../access/caller.ts';
import { loadScope, type Scope } from '../../../access/memberships.ts';
import type { Queries } from '../../../database/database.ts';
import type { Platform } from '../../../platform/platform.ts';
import { keyOf } from '../site-tags/tag-keys.ts';
import { pageOfSites } from '../sites/store.ts';
import type { foundThingSchema } from './schema.ts';
import { accountNames, domainsNamed, installsNamed, MOST_SEARCHED } from './search-store.ts';

export type FoundThing = Static<typeof foundThingSchema>;

/** Users who need more results type more letters. */
const MOST_OF_A_KIND = 8;
/** The newest sites are searched. They are compared here, because SQLite folds case in ASCII only. */
const NEWEST_SITES = {
  limit: MOST_SEARCHED,
  offset: 0,
  sort: { key: null, isDescending: true },
  cursor: null,
};

export type SearchService = ReturnType<typeof createSearchService>;

/** Searches sites, installs, domains and tags across all accounts of the caller. */
export function createSearchService({ database }: Pick<Platform, 'database'>) {
  /** The first sites whose name contains a text, and the first tags of all sites that contain it. */
  async function sitesAndTags(reader: Queries, scope: Scope, text: string): Promise<FoundThing[][]> {
    const { results: sites } = await pageOfSites(reader, scope, NEWEST_SITES, {}, MOST_SEARCHED);
    const tags = new Map(
      sites.flatMap(({ account_id, tags }) =>
        tags.map((name) => [`${account_id} ${keyOf(name)}`, { id: account_id, name, account_id }] as const),
      ),
    );
    const found = [nearest(sites, text), nearest([...tags.values()], text)];
    const accountIds = new Set(found.flat().map(({ account_id }) => account_id));
    const accounts = await accountNames(reader, [...accountIds]);
    const kinds = ['site', 'tag'] as const;
    return kinds.map((kind, index) =>
      (found[index] ?? []).map(({ id, name, account_id }) => ({
        kind,
        id,
        name,
        install: null,
        site: null,
        environment: null,
        account: { id: account_id, name: accounts.get(account_id) ?? '' },
      })),
    );
  }

  return {
    /**
     * The first few sites, installs, domains and tags whose names contain `text` and that the caller may see; with
     * `accountId`, in this account alone. Beyond {@link MOST_SEARCHED}, the newest, and names that begin with it.
     */
    async find(
      caller: Caller,
      text: string,
      accountId?: string,
    ): Promise<{ results: FoundThing[]; more: boolean }> {
      const written = text.trim().toLowerCase();
      if (written === '') return { results: [], more: false };
      return database.snapshot(async (reader) => {
        const scope = await loadScope(reader, caller, accountId);
        const texts = [...new Set([written, domainToASCII(written)])].filter(Boolean);
        const most = MOST_OF_A_KIND + 1;
        const [[sites = [], tags = []], installs, domains] = await Promise.all([
          sitesAndTags(reader, scope, written),
          installsNamed(reader, scope, texts, most),
          domainsNamed(reader, scope, texts, most),
        ]);
        const kinds: FoundThing[][] = [
          sites,
          installs.map((row) => ({ kind: 'install', name: row.install, ...placeOf(row), install: null })),
          domains.map((row) => ({ kind: 'domain', name: row.name, ...placeOf(row) })),
          tags,
        ];
        return {
          results: kinds.flatMap((found) => found.slice(0, MOST_OF_A_KIND)),
          more: kinds.some((found) => found.length > MOST_OF_A_KIND),
        };
      });
    },
  };
}

interface Named {
  id: string;
  name: string;
  account_id: string;
}

/** The first things whose name contains a text: where it begins earliest, then by name. */
const nearest = (all: readonly Named[], text: string): Named[] =>
  all
    .map((one) => ({ one, at: one.name.toLowerCase().indexOf(text) }))
    .filter(({ at }) => at >= 0)
    .sort((first, second) => first.at - second.at || (first.one.name < second.one.name ? -1 : 1))
    .slice(0, MOST_OF_A_KIND + 1)
    .map(({ one }) => one);

type PlacedRow = Awaited<ReturnType<typeof installsNamed>>[number];

function placeOf({ id, install, site, environment, account_id, account_name }: PlacedRow) {
  return { id, install, site, environment, account: { id: account_id, name: account_name } };
}
