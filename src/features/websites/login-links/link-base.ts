import type { InstallStatus } from '../../../database/tables/installs.ts';
import { Conflict } from '../../../lib/failures.ts';
import type { ConnectionService } from '../installs/connection-service.ts';

/** An install that a link leads to. */
export interface LinkedWebsite {
  id: string;
  name: string;
  account_id: string;
  status: InstallStatus;
}

const STATES: Record<Exclude<InstallStatus, 'active'>, string> = {
  pending: 'The install is still being created. Try again when its status is active.',
  failed: 'The install could not be created, so it has no WordPress. Delete it and create another one.',
};

export const NO_ANSWER = 'The host of the website did not answer. Try again in a minute.';

/** The address that a link to an install begins with. Throws Conflict if the install is not active or its host is unknown. */
export async function requireLinkBase(
  connections: Pick<ConnectionService, 'of'>,
  { id, name, status }: LinkedWebsite,
): Promise<string> {
  if (status !== 'active') throw new Conflict(STATES[status]);
  const connection = await connections.of({ id, name, primary_domain: null });
  if (connection === null) {
    throw new Conflict('The host of the website has not reported its address yet. Try again in a minute.');
  }
  return connection.website_url;
}
