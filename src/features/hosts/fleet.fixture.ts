import type { Client } from '../../../test/client.ts';
import type { TestHomeport } from '../../../test/homeport.ts';
import { connectHost } from '../../hosting/remote/client.ts';
import { hostQuestions } from '../provisioning/host-questions.ts';
import { requireNameFree } from '../provisioning/orphans.ts';
import type { EdgeNetworkOptions } from './edge-network.ts';
import { createFleet, type Fleet } from './fleet.ts';

/** Settings of a Homeport whose host listens in a run folder. */
export function environment(runFolder: string): Record<string, string> {
  return { HOMEPORT_HOST: 'linux', HOMEPORT_HOST_RUN_FOLDER: runFolder };
}

export function startFleet(
  { platform }: TestHomeport,
  refreshMs?: number,
  edges: EdgeNetworkOptions = {},
): Fleet {
  return createFleet(platform, {
    connect: connectHost,
    questionsOf: (hostId) => hostQuestions(platform, hostId),
    requireNameFree: (hostId, install) => requireNameFree(platform.database.reader, hostId, install),
    ...(refreshMs === undefined ? {} : { refreshMs }),
    edges,
  });
}

/** The database row of an install. */
export const row = ({ platform }: TestHomeport, id: string) =>
  platform.database.reader
    .selectFrom('installs')
    .select(['status', 'host_id', 'php_version', 'wordpress_version'])
    .where('id', '=', id)
    .executeTakeFirst();

export const jobsOf = ({ platform }: TestHomeport, lane: string) =>
  platform.database.reader
    .selectFrom('jobs')
    .select(['kind', 'state', 'error', 'attempt'])
    .where('lane', '=', lane)
    .orderBy('seq')
    .execute();

/** Deletes every install. */
export async function deleteInstalls(homeport: TestHomeport, client: Client): Promise<void> {
  const { results } = Object(await client.get('/installs?limit=100').then(({ body }) => body));
  for (const { id } of results) await client.delete(`/installs/${id}`);
  await homeport.idle();
}
