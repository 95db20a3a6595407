import type { Host } from '../../hosting/host.ts';
import { defineJob, type JobKind } from '../../jobs/job.ts';
import type { Platform } from '../../platform.ts';
import { purgeCache } from './jobs.ts';

export function cacheJobKinds({ database }: Pick<Platform, 'database'>, host: Host): JobKind[] {
  return [
    defineJob({
      ...purgeCache,
      async run({ install_id, cache }) {
        const install = await database.reader
          .selectFrom('installs')
          .select(['id', 'name'])
          .where('id', '=', install_id)
          .where('status', '=', 'active')
          .executeTakeFirst();
        // A website that is not there has no cache.
        if (install) await host.purge(install, cache);
      },
    }),
  ];
}
