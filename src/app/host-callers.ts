import type { Config } from '../config/config.ts';
import type { Host } from '../hosting/contract/host.ts';
import { askForLogin, askForMail } from './serving-socket.ts';

/** The calls to hosts that a user's request waits for. */
export type HostCallers = Pick<Host, 'createLogin' | 'createDatabaseLink' | 'readMail' | 'readLog'>;

/**
 * Asks the host of an install: `own`, if this process serves the websites, or one of `hosts`. Other processes of a machine with the embedded
 * host ask the one that serves its websites. Services have refused what that host does not do.
 */
export function createHostCallers(
  config: Pick<Config, 'host' | 'dataDir'>,
  hosts: () => Host,
  own: () => Host | undefined = () => undefined,
): HostCallers {
  const serving = () => own() ?? hosts();
  const isElsewhere = () => config.host === 'embedded' && own() === undefined;
  return {
    createLogin: async (install, user) =>
      isElsewhere() ? askForLogin(config, install, user) : serving().createLogin(install, user),
    readMail: async (install) => (isElsewhere() ? askForMail(config, install) : serving().readMail(install)),
    createDatabaseLink: async (install) => serving().createDatabaseLink(install),
    readLog: async (install, query, signal) => serving().readLog(install, query, signal),
  };
}
