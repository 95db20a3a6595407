import { join } from 'node:path';
import { parseUuid } from '../../../lib/ids.ts';
import { PermanentHostError } from '../../contract/errors.ts';
import { type InstallLimits, NO_LIMITS } from '../../contract/install-limits.ts';

/**
 * Paths of the Linux host. All folders down to those of an install belong to root, so that no website can replace one by a
 * link. An install's folders are named after its id.
 */
export interface LinuxLayout {
  /** Persistent data: `/var/lib/homeport-host`. */
  folder: string;
  /** Sockets, lost at a restart of the machine: `/run/homeport-host`. */
  runFolder: string;
  /** Limits for the files of one install. */
  limits: InstallLimits;
  /** The id of this host. */
  identity: string;
  /** Scripts for other programs (AuthorizedKeysCommand, login shell). */
  scripts: string;
  /** WordPress cores, a folder per version, read-only and shared by all installs. */
  cores: string;
  coreOf(wordpressVersion: string): string;
  /** Database template of each WordPress version: the dump of a new website. */
  templates: string;
  /** Compiled PHP code of cores: a folder per core, PHP version and build of both. Read-only and shared. */
  compiled: string;
  /** PHP versions besides the machine's own: `<version>/` is the root of a Debian system with that version. */
  phpRoots: string;
  /** WP-CLI, readable by all sandboxes. */
  wpCli: string;
  /** State and placement of each install: one JSON file each, readable by root only. */
  records: string;
  recordOf(installId: string): string;
  /** Records of installs that are set aside: not served, data kept. */
  aside: string;
  /** The id of the platform that this host belongs to. */
  platform: string;
  /** Websites being provisioned, in case the host is killed: one JSON file each. */
  journals: string;
  journalOf(installId: string): string;
  /** How far updates of WordPress, plugins and themes are, in case the host is killed: one JSON file for each install. */
  updates: string;
  updateOf(installId: string): string;
  /** File that records how far a change of a plugin or theme is. */
  changeOf(installId: string): string;
  /** Homes: folders of root, in which `htdocs` and `private` belong to the install. The SFTP root. */
  installs: string;
  homeOf(installId: string): string;
  /** The document root. */
  htdocsOf(installId: string): string;
  /** The HOME of the install's programs: dotfiles and caches, never served and in no backup. */
  dotfilesOf(installId: string): string;
  /** Uploads that PHP has not moved yet, and large temporary files: never served and in no backup. */
  uploadsOf(installId: string): string;
  /** Files of the install that are never served: log, initial password. */
  privateOf(installId: string): string;
  /** The page cache, in a folder of the web server. */
  caches: string;
  nginx: string;
  /** Traffic counts that the control plane collects, readable by root only. */
  usage: string;
  /** The queue of messages that websites sent, readable by root only. */
  mail: string;
  /** The logs of an install: a folder of root that the install may read. */
  logsOf(installId: string): string;
  /** `<host name>/<path>`: texts that the web server answers with before anything else. */
  proofs: string;
  mariadb: string;
  ssh: string;
  /** Backups, unless another place is configured. */
  backups: string;
  /** Where the backups are: one JSON file, with the keys of buckets. */
  backupPlaces: string;
  /** An index of each backup, which can be made again. */
  backupIndexes: string;
  /** Packed archives for download, a folder for each install. */
  archives: string;
  /** For files that are being made or deleted; on the same file system as the rest. */
  scratch: string;
  hostSocket: string;
  keysSocket: string;
  /** Folder of the database server's socket. Sandboxes bind the folder: a bound socket file goes stale. */
  mariadbRun: string;
  mariadbSocket: string;
  /** Sockets of the installs' PHP. Belongs to root, so that no install can replace its socket by a link to another's. */
  phpRun: string;
  phpSocketOf(installId: string): string;
  /** Folder for an install's own sockets; `redis/` inside is for Redis. */
  runOf(installId: string): string;
  redisRunOf(installId: string): string;
  redisSocketOf(installId: string): string;
  /** Folder of root in the run folder that only the install may enter: its WordPress purges pages by the socket inside. */
  purgeRunOf(installId: string): string;
  purgeSocketOf(installId: string): string;
  /** In the same folder: the install's sendmail hands over messages. */
  mailSocketOf(installId: string): string;
}

/** The folders of code that hosts can share. Compiled code belongs to one path of a core. */
export type CodeFolders = Pick<LinuxLayout, 'cores' | 'compiled'>;

/**
 * `code`: folders that it shares with other hosts, in tests.
 *
 * The functions throw a {@link PermanentHostError} if the id is not a UUID or the version is invalid.
 */
export function linuxLayout(
  folder: string,
  runFolder: string,
  limits: InstallLimits = NO_LIMITS,
  code?: CodeFolders,
): LinuxLayout {
  const below = (name: string) => join(folder, name);
  const { cores, compiled } = code ?? { cores: below('core'), compiled: below('compiled') };
  const installs = below('installs');
  const runOf = (id: string) => join(runFolder, 'installs', checkedId(id));
  return {
    folder,
    runFolder,
    limits,
    identity: below('host.json'),
    scripts: below('lib'),
    cores,
    coreOf: (version) => join(cores, checkedVersion(version)),
    // The folder keeps the name that existing hosts have on disk.
    templates: below('golden'),
    compiled,
    phpRoots: below('php'),
    wpCli: below('wp-cli'),
    records: below('records'),
    recordOf: (id) => join(below('records'), `${checkedId(id)}.json`),
    aside: below('aside'),
    platform: below('platform'),
    journals: below('journals'),
    journalOf: (id) => join(below('journals'), `${checkedId(id)}.json`),
    updates: below('updates'),
    updateOf: (id) => join(below('updates'), `${checkedId(id)}.json`),
    changeOf: (id) => join(below('updates'), `${checkedId(id)}.change.json`),
    installs,
    homeOf: (id) => join(installs, checkedId(id)),
    htdocsOf: (id) => join(installs, checkedId(id), 'htdocs'),
    dotfilesOf: (id) => join(installs, checkedId(id), 'home'),
    uploadsOf: (id) => join(installs, checkedId(id), 'tmp'),
    privateOf: (id) => join(installs, checkedId(id), 'private'),
    caches: below('cache'),
    nginx: below('nginx'),
    usage: join(below('usage'), 'usage.sqlite'),
    mail: below('mail'),
    logsOf: (id) => join(installs, checkedId(id), 'logs'),
    proofs: below('proofs'),
    mariadb: below('mariadb'),
    ssh: below('ssh'),
    backups: below('backups'),
    backupPlaces: below('backup-places.json'),
    backupIndexes: below('backup-indexes'),
    archives: below('archives'),
    scratch: below('scratch'),
    hostSocket: join(runFolder, 'host.sock'),
    keysSocket: join(runFolder, 'keys.sock'),
    mariadbRun: join(runFolder, 'mariadb'),
    mariadbSocket: join(runFolder, 'mariadb', 'mysqld.sock'),
    runOf,
    phpRun: join(runFolder, 'php'),
    phpSocketOf: (id) => join(runFolder, 'php', `${checkedId(id)}.sock`),
    redisRunOf: (id) => join(runOf(id), 'redis'),
    redisSocketOf: (id) => join(runOf(id), 'redis', 'redis.sock'),
    purgeRunOf: (id) => join(runOf(id), 'host'),
    purgeSocketOf: (id) => join(runOf(id), 'host', 'purge.sock'),
    mailSocketOf: (id) => join(runOf(id), 'host', 'mail.sock'),
  };
}

function checkedId(id: string): string {
  if (parseUuid(id) !== id) throw new PermanentHostError(`"${id}" is not the id of an install`);
  return id;
}

function checkedVersion(version: string): string {
  if (!/^\d+(\.\d+){1,2}$/.test(version)) {
    throw new PermanentHostError(`"${version}" is not a version of WordPress`);
  }
  return version;
}
