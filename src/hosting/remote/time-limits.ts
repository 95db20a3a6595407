import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../../lib/durations.ts';
import { WP_CLI_SECONDS } from '../contract/wp-cli.ts';
import { ANSWER_WITHIN_MS, type COMMANDS, POLL_MS } from './protocol.ts';

/**
 * Maximum duration of each command, in milliseconds. The line feeds during a command are not enough: a compromised host could
 * send them forever and block the callers.
 */
export type TimeLimits = Readonly<Record<keyof typeof COMMANDS, number>>;

/** At least as long as the jobs' time limits. The jobs' signals end their commands earlier. */
export const TIME_LIMITS: TimeLimits = {
  describe: 15 * SECOND_MS,
  publish: 15 * SECOND_MS,
  withdraw: 10 * SECOND_MS,
  purge: 30 * SECOND_MS,
  purgePages: 30 * SECOND_MS,
  // The stop and the start of a daemon.
  restartPhp: 2 * MINUTE_MS,
  nextQuestion: POLL_MS + 10 * SECOND_MS,
  // The host no longer waits for a later answer.
  answer: 2 * ANSWER_WITHIN_MS,
  // It requests pages of every install, and repairs some.
  inspect: 60 * MINUTE_MS,
  heldInstalls: MINUTE_MS,
  belongTo: 15 * SECOND_MS,
  // It ends the processes of a whole page of installs.
  setAside: 10 * MINUTE_MS,
  addWordpress: 15 * MINUTE_MS,
  addReleases: HOUR_MS,
  remove: 5 * MINUTE_MS,
  retire: 5 * MINUTE_MS,
  removeBackups: HOUR_MS,
  apply: 10 * MINUTE_MS,
  replaceUrls: HOUR_MS,
  snapshot: 6 * HOUR_MS,
  restore: 6 * HOUR_MS,
  importWebsite: 6 * HOUR_MS,
  // It waits for other work on the website.
  lastImport: HOUR_MS,
  discardSnapshot: HOUR_MS,
  heldBackups: 15 * MINUTE_MS,
  backupPlaces: 5 * MINUTE_MS,
  // Terabytes by a slow line. A timer cannot wait longer than 24 days.
  moveBackups: 20 * DAY_MS,
  acceptBackupPlace: 5 * MINUTE_MS,
  forgetFormerBackups: DAY_MS,
  pack: 6 * HOUR_MS,
  readPacked: 30 * SECOND_MS,
  discardPacked: MINUTE_MS,
  measureStorage: 30 * MINUTE_MS,
  readUsage: MINUTE_MS,
  readMail: 15 * SECOND_MS,
  mailQueue: 30 * SECOND_MS,
  retryMail: 30 * SECOND_MS,
  deleteMail: 5 * MINUTE_MS,
  // Each of its runs of PHP has a limit of a minute.
  readWordPress: 5 * MINUTE_MS,
  wordpressMarks: MINUTE_MS,
  planUpdates: 5 * MINUTE_MS,
  // It can wait for a backup, and restore one.
  updateWordpress: 6 * HOUR_MS,
  changeItem: 6 * HOUR_MS,
  // A search ends earlier, but may wait for others.
  readLog: 30 * SECOND_MS,
  // The host itself ends commands earlier.
  runWpCli: (WP_CLI_SECONDS + 60) * SECOND_MS,
  addWpCli: 10 * MINUTE_MS,
  // Shorter than the validity of a login.
  createLogin: 30 * SECOND_MS,
  createDatabaseLink: 30 * SECOND_MS,
};
