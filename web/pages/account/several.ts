import { hosting } from '../../api/client.ts';
import { answered, done } from '../../api/failure.ts';
import type { Named } from './ask-for-each.ts';

/** What can be asked for several installs at once. */
export const SEVERAL = ['backup', 'page', 'object'] as const;
export type ForSeveral = (typeof SEVERAL)[number];

/** One request for one install. */
export function requestFor(what: ForSeveral, description: string): (install: Named) => Promise<unknown> {
  return ({ id }) => {
    const params = { path: { install_id: id } };
    return what === 'backup'
      ? answered(
          hosting.POST('/installs/{install_id}/backups', {
            params,
            body: { description, notification_emails: [] },
          }),
        )
      : done(hosting.POST('/installs/{install_id}/purge_cache', { params, body: { type: what } }));
  };
}
