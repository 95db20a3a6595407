import { isDeepStrictEqual } from 'node:util';
import type { Logger } from 'pino';
import type { Clock } from '../../lib/clock.ts';
import type { Sealer } from '../../secrets/sealer.ts';
import { PermanentHostError } from '../contract/errors.ts';
import type { CacheKind } from '../contract/host.ts';
import type { InstallState } from '../contract/install-state.ts';
import { parseSitePath } from './edge/request-target.ts';
import { type Generations, generationsAfterPurge, nextGenerations } from './host-folder/generations.ts';
import { rulesIn, type ServedWordPress, stateOf, type VhostFile, vhostFileFor } from './host-folder/vhost.ts';
import type { VhostStore } from './host-folder/vhost-store.ts';

/** The edge's view of each website: its vhost file. */
export interface ServedWebsites {
  /** The usable vhost file of an install; null without one. */
  read(installId: string): Promise<VhostFile | null>;
  /**
   * Makes the vhost file for `state`. Returns a function that writes it, unless the present one matches, and returns its revision. Call both
   * in `serially`. Throws a {@link PermanentHostError} that names the part of `state` that cannot be served.
   */
  plan(state: InstallState, wordpress: ServedWordPress | null): Promise<() => Promise<string>>;
  /** Records another WordPress of a website, whose process of PHP has to end then; null without a WordPress, otherwise its revision. */
  recordWordPress(installId: string, version: string): Promise<string | null>;
  /** Purges caches of a website; null without a vhost file, otherwise its revision. */
  purge(installId: string, kinds: readonly CacheKind[]): Promise<string | null>;
  /** Purges pages by their paths. */
  purgePages(installId: string, paths: readonly string[]): Promise<string | null>;
}

interface ServedWebsitesOptions {
  store: VhostStore;
  sealer: Sealer;
  log: Logger;
  clock: Clock;
  /** The read-change-write of a vhost file must not run twice at once. */
  serially<Result>(installId: string, work: () => Promise<Result>): Promise<Result>;
}

export function createServedWebsites(options: ServedWebsitesOptions): ServedWebsites {
  const { store, sealer, log, clock, serially } = options;

  async function readUsable(installId: string): Promise<{ file: VhostFile; revision: string } | null> {
    try {
      return await store.read(installId);
    } catch (err) {
      if (err instanceof PermanentHostError) throw err;
      log.warn({ err, install: installId }, 'an unusable vhost file is rewritten');
      return null;
    }
  }

  function isState(
    file: VhostFile,
    { id, name, hostnames, offload, rules }: InstallState,
    wordpress: ServedWordPress | null,
  ): boolean {
    if (!isDeepStrictEqual(file.wordpress ?? null, wordpress)) return false;
    try {
      return isDeepStrictEqual(stateOf(file, sealer), { id, name, hostnames, offload, ...rulesIn(rules) });
    } catch (err) {
      log.warn({ err, install: id }, 'a sealed private key cannot be opened and is rewritten');
      return false;
    }
  }

  async function purge(
    installId: string,
    next: (present: Generations, now: number) => Generations,
  ): Promise<string | null> {
    return serially(installId, async () => {
      const present = await store.read(installId);
      if (present === null) return null;
      const generations = next(present.file.generations, clock.now().getTime());
      return store.write({ ...present.file, generations });
    });
  }

  return {
    read: async (installId) => (await readUsable(installId))?.file ?? null,

    async plan(state, wordpress) {
      const present = await readUsable(state.id);
      if (present !== null && isState(present.file, state, wordpress)) return async () => present.revision;
      const generations = present?.file.generations ?? nextGenerations(null, clock.now().getTime());
      const file = vhostFileFor(state, generations, sealer, wordpress);
      return () => store.write(file);
    },

    recordWordPress: (installId, version) =>
      serially(installId, async () => {
        const file = (await store.read(installId))?.file;
        if (file?.wordpress === undefined) return null;
        return store.write({ ...file, wordpress: { ...file.wordpress, version } });
      }),

    purge: (installId, kinds) => purge(installId, (present, now) => nextGenerations(present, now, kinds)),

    purgePages(installId, paths) {
      // Requests for other paths are refused, so they have no page.
      const pages = paths.flatMap((path) => parseSitePath(path)?.relative ?? []);
      return purge(installId, (present, now) => generationsAfterPurge(present, now, pages));
    },
  };
}
