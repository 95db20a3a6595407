import type { BackupBrowser } from '../hosting/contract/backup-contents.ts';
import type { Host } from '../hosting/contract/host.ts';
import type { LogSource } from '../hosting/contract/logs.ts';
import type { Platform } from '../platform/platform.ts';
import { folderBrowser, folderLogs } from './embedded-websites.ts';
import { askForDatabase, askForLogin, askForMail, askForTables } from './serving-socket.ts';

/** The calls to hosts that a user's request waits for. */
export type HostCallers = Pick<Host, 'createLogin' | 'createDatabaseLink' | 'readMail' | 'readLog'> & {
  backupBrowser: BackupBrowser;
};

/**
 * Asks the host of an install: `own`, if this process serves the websites, or one of `hosts`. Other processes of a machine with the embedded
 * host ask the one that serves its websites. Services have refused what that host does not do.
 */
export function createHostCallers(
  { config, log }: Pick<Platform, 'config' | 'log'>,
  hosts: () => Host,
  own: () => Host | undefined = () => undefined,
): HostCallers {
  const serving = () => own() ?? hosts();
  const isElsewhere = () => config.host === 'embedded' && own() === undefined;
  let ofFolder: ReturnType<typeof folderBrowser> | undefined;
  /** Snapshots of the embedded host are files, which every process of its machine reads. */
  function browser(): ReturnType<typeof folderBrowser> {
    if (!isElsewhere()) return serving();
    ofFolder ??= folderBrowser(config, log);
    return ofFolder;
  }
  let logsOfFolder: LogSource | undefined;
  /** So are the logs. */
  function logs(): LogSource {
    if (!isElsewhere()) return serving();
    logsOfFolder ??= folderLogs(config, log);
    return logsOfFolder;
  }
  return {
    createLogin: async (install, user) =>
      isElsewhere() ? askForLogin(config, install, user) : serving().createLogin(install, user),
    readMail: async (install) => (isElsewhere() ? askForMail(config, install) : serving().readMail(install)),
    createDatabaseLink: async (install) =>
      isElsewhere() ? askForDatabase(config, install) : serving().createDatabaseLink(install),
    backupBrowser: {
      browseBackup: async (...asked) => browser().browseBackup(...asked),
      listBackupTables: async (...asked) =>
        isElsewhere() ? askForTables(config, ...asked) : serving().listBackupTables(...asked),
      readBackupFile: async (...asked) => browser().readBackupFile(...asked),
    },
    readLog: async (install, query, signal) => logs().readLog(install, query, signal),
  };
}
