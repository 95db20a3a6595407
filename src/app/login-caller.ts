import type { Config } from '../config/config.ts';
import type { Host } from '../hosting/contract/host.ts';
import { NO_DATABASE, NO_LOGS, NO_MAIL } from '../hosting/policy/static-only.ts';
import { askForLogin } from './serving-socket.ts';

/** Asks the host of an install for logins to WordPress. Other processes ask the one that serves the websites. */
export function createLoginCaller(
  config: Pick<Config, 'host' | 'dataDir'>,
  hosts: () => Host,
  own: () => Host | undefined = () => undefined,
): Host['createLogin'] {
  return async (install, user) => {
    if (config.host !== 'embedded') return hosts().createLogin(install, user);
    return own()?.createLogin(install, user) ?? askForLogin(config, install, user);
  };
}

/** Asks the host of an install for links to its database. The embedded host has none. */
export function createDatabaseLinkCaller(
  { host }: Pick<Config, 'host'>,
  hosts: () => Host,
  own: () => Host | undefined = () => undefined,
): Host['createDatabaseLink'] {
  return async (install) => {
    if (host !== 'embedded') return hosts().createDatabaseLink(install);
    return (await own()?.createDatabaseLink(install)) ?? NO_DATABASE;
  };
}

/** Asks the host of an install about its mail. The embedded host sends none. */
export function createMailReader(
  { host }: Pick<Config, 'host'>,
  hosts: () => Host,
  own: () => Host | undefined = () => undefined,
): Host['readMail'] {
  return async (install) => {
    if (host !== 'embedded') return hosts().readMail(install);
    return (await own()?.readMail(install)) ?? NO_MAIL;
  };
}

/** Asks the host of an install for its logs. The embedded host has none. */
export function createLogCaller(
  { host }: Pick<Config, 'host'>,
  hosts: () => Host,
  own: () => Host | undefined = () => undefined,
): Host['readLog'] {
  return async (install, query, signal) => {
    if (host !== 'embedded') return hosts().readLog(install, query, signal);
    return (await own()?.readLog(install, query, signal)) ?? NO_LOGS;
  };
}
