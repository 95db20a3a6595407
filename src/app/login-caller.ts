import type { Config } from '../config/config.ts';
import type { Host } from '../hosting/contract/host.ts';
import { NO_DATABASE, NO_LOGS, NO_MAIL, STATIC_ONLY } from '../hosting/policy/static-only.ts';

/** Asks the host of an install for logins to WordPress. The embedded host, which another process may have, refuses all. */
export function createLoginCaller({ host }: Pick<Config, 'host'>, hosts: () => Host): Host['createLogin'] {
  return async (install, user) => (host === 'embedded' ? STATIC_ONLY : hosts().createLogin(install, user));
}

/** Asks the host of an install for links to its database, in the same way. */
export function createDatabaseLinkCaller(
  { host }: Pick<Config, 'host'>,
  hosts: () => Host,
): Host['createDatabaseLink'] {
  return async (install) => (host === 'embedded' ? NO_DATABASE : hosts().createDatabaseLink(install));
}

/** Asks the host of an install about its mail. The embedded host sends none. */
export function createMailReader({ host }: Pick<Config, 'host'>, hosts: () => Host): Host['readMail'] {
  return async (install) => (host === 'embedded' ? NO_MAIL : hosts().readMail(install));
}

/** Asks the host of an install for its logs, in the same way. */
export function createLogCaller({ host }: Pick<Config, 'host'>, hosts: () => Host): Host['readLog'] {
  return async (install, query, signal) =>
    host === 'embedded' ? NO_LOGS : hosts().readLog(install, query, signal);
}
