import type { Static } from 'typebox';
import { MOST_REDIRECTS } from '../../../../hosting/contract/website-rules.ts';
import type { MatchPattern } from '../../../../hosting/policy/path-redirects.ts';
import { loadPatternEngine } from '../../../../hosting/policy/pattern-engine.ts';
import {
  FAULTS_TOLD,
  type Fault,
  INVALID_PARAMETERS,
  InvalidRequest,
  NotFound,
} from '../../../../lib/failures.ts';
import type { PageOf, PageRequest } from '../../../../lib/page.ts';
import type { Platform } from '../../../../platform/platform.ts';
import { servedNamesOf } from '../../installs/website-store.ts';
import { createRulesChange, type RulesChange, type RulesOf } from '../change-rules.ts';
import { decodedPath, encodedRulePath } from '../rule-paths.ts';
import { hostRedirect, type StoredRedirect } from '../stored-rules.ts';
import { endlessRedirects, faultsOfNumber, faultsOfRedirect } from './redirect-faults.ts';
import type {
  createRedirectBody,
  importRedirectsBody,
  redirectSchema,
  updateRedirectBody,
} from './schema.ts';

export type Redirect = Static<typeof redirectSchema>;
export type NewRedirect = Static<(typeof importRedirectsBody)['schema']>['redirects'][number];

export type RedirectService = ReturnType<typeof createRedirectService>;

export function createRedirectService(platform: Platform) {
  const { random } = platform;
  const { read, change } = createRulesChange(platform);

  /** Changes the redirects. Loads what compares patterns before the transaction. */
  async function changeRedirects<Result>(
    of: RulesOf,
    changed: (
      redirects: readonly StoredRedirect[],
      requireUsable: (wanted: readonly StoredRedirect[], at: (place: number) => string) => Promise<void>,
    ) => Promise<Omit<RulesChange<Result>, 'rules'> & { wanted: StoredRedirect[] }>,
  ) {
    const match = await loadPatternEngine();
    return change(of, async ({ redirects, ...rest }, install, { queries }) => {
      const { wanted, ...made } = await changed(redirects, async (redirectsWanted, at) =>
        requireUsable(new Set(await servedNamesOf(queries, install.id)), redirectsWanted, at, match),
      );
      return { ...made, rules: { ...rest, redirects: wanted } };
    });
  }

  function stored({
    match = 'exact',
    from,
    to,
    status = 301,
    keep_query = true,
  }: NewRedirect): StoredRedirect {
    return { id: random.uuid(), match, from: decodedFrom(match, from), to, status, keep_query };
  }

  return {
    async list(of: RulesOf, { limit, offset }: PageRequest): Promise<PageOf<Redirect>> {
      const { redirects } = (await read(of)).rules;
      const all = redirects.map(present);
      return { count: all.length, results: all.slice(offset, offset + limit) };
    },

    async get(of: RulesOf, redirectId: string): Promise<Redirect> {
      const { redirects } = (await read(of)).rules;
      const place = placeOf(redirects, redirectId);
      const found = redirects[place];
      if (found === undefined) throw new NotFound();
      return present(found, place);
    },

    async create(
      of: RulesOf,
      { position = MOST_REDIRECTS, ...asked }: Static<(typeof createRedirectBody)['schema']>,
    ): Promise<{ redirect: Redirect; operationId: string | null }> {
      refuse(faultsOfRedirect({ match: 'exact', ...asked }));
      const added = stored(asked);
      const { operationId, result } = await changeRedirects(of, async (redirects, requireUsable) => {
        const wanted = redirects.toSpliced(position - 1, 0, added);
        await requireUsable(wanted, () => '');
        return {
          wanted,
          action: 'redirect.create',
          details: addressesOf(added),
          result: present(added, wanted.indexOf(added)),
        };
      });
      return { redirect: result, operationId };
    },

    async update(
      of: RulesOf,
      redirectId: string,
      { position, ...asked }: Static<(typeof updateRedirectBody)['schema']>,
    ): Promise<{ redirect: Redirect; operationId: string | null }> {
      const { operationId, result } = await changeRedirects(of, async (redirects, requireUsable) => {
        const place = placeOf(redirects, redirectId);
        const before = redirects[place];
        if (before === undefined) throw new NotFound();
        const { match = before.match, from: given = encodedFrom(before), to: target = before.to } = asked;
        const isStored = match === before.match && given === encodedFrom(before);
        refuse(faultsOfRedirect({ match, from: given, to: target }, { isStored }));
        const after: StoredRedirect = {
          id: before.id,
          match,
          from: decodedFrom(match, given),
          to: target,
          status: asked.status ?? before.status,
          keep_query: asked.keep_query ?? before.keep_query,
        };
        const at = position === undefined ? place : position - 1;
        const wanted = redirects.toSpliced(place, 1).toSpliced(at, 0, after);
        await requireUsable(wanted, () => '');
        return {
          wanted,
          action: 'redirect.update',
          details: addressesOf(after),
          result: present(after, wanted.indexOf(after)),
        };
      });
      return { redirect: result, operationId };
    },

    async remove(of: RulesOf, redirectId: string): Promise<string | null> {
      const { operationId } = await change(of, ({ redirects, ...rest }) => {
        const place = placeOf(redirects, redirectId);
        const before = redirects[place];
        return {
          rules: { ...rest, redirects: redirects.toSpliced(place, 1) },
          action: 'redirect.delete',
          details: { from: before === undefined ? '' : encodedFrom(before) },
          result: undefined,
        };
      });
      return operationId;
    },

    /** Adds all redirects or none; with `replace`, in place of those that the install has. */
    async import(
      of: RulesOf,
      { redirects: asked, replace = false }: Static<(typeof importRedirectsBody)['schema']>,
    ): Promise<{ count: number; total: number; operationId: string | null }> {
      refuse(
        asked.flatMap((one, index) =>
          faultsOfRedirect({ match: 'exact', ...one }, { at: `redirects.${index}.` }),
        ),
      );
      const added = asked.map(stored);
      const { operationId, result } = await changeRedirects(of, async (redirects, requireUsable) => {
        const kept = replace ? [] : redirects;
        const wanted = [...kept, ...added];
        await requireUsable(wanted, (place) => `redirects.${place - kept.length}.`);
        return {
          wanted,
          action: 'redirect.import',
          details: { count: added.length, replace },
          result: wanted.length,
        };
      });
      return { count: added.length, total: result, operationId };
    },
  };
}

function refuse(faults: Fault[]): void {
  const [first] = faults;
  if (first === undefined) return;
  throw new InvalidRequest(
    faults.length === 1 ? first.message : INVALID_PARAMETERS,
    faults.slice(0, FAULTS_TOLD),
  );
}

/** Requires that the redirects are not too many, and that no visitor runs in a circle. `names`: the website's own. `at`: the beginning of a field's name. */
function requireUsable(
  names: ReadonlySet<string>,
  redirects: readonly StoredRedirect[],
  at: (place: number) => string,
  match: MatchPattern,
): void {
  refuse(faultsOfNumber(redirects));
  const endless = endlessRedirects(redirects.map(hostRedirect), names, match);
  refuse(
    endless.flatMap((place): Fault[] => {
      const redirect = redirects[place];
      if (redirect === undefined) return [];
      const { from, to } = addressesOf(redirect);
      const message = `Visitors of ${from} would never arrive: ${to} is redirected again, and so on`;
      return [
        { resource: 'Redirect', field: `${at(place)}to`, type: 'invalid_value', code: 'loop', message },
      ];
    }),
  );
}

function placeOf(redirects: readonly StoredRedirect[], id: string): number {
  const place = redirects.findIndex((one) => one.id === id);
  if (place < 0) throw new NotFound();
  return place;
}

/** As a request may write it. */
function present(redirect: StoredRedirect, place: number): Redirect {
  const { id, match, to, status, keep_query } = redirect;
  return { id, position: place + 1, match, from: encodedFrom(redirect), to, status, keep_query };
}

/** For the activity and for messages: as the API shows them. */
function addressesOf(redirect: StoredRedirect): { from: string; to: string } {
  return { from: encodedFrom(redirect), to: redirect.to };
}

/** Paths are stored decoded, as edges compare them. */
function decodedFrom(match: StoredRedirect['match'], from: string): string {
  return match === 'regex' ? from : (decodedPath(from) ?? from);
}

/** The stored path as a request may write it. */
function encodedFrom({ match, from }: StoredRedirect): string {
  return match === 'regex' ? from : encodedRulePath(from);
}
