import { join } from 'node:path';
import { parseUuid } from '../../../lib/ids.ts';
import { PermanentHostError } from '../../contract/host.ts';
import { type InstallLimits, NO_LIMITS } from '../../contract/install-limits.ts';

/**
 * Where the Linux host keeps things. Every folder down to those of an install is root's, so that no website can
 * exchange one for a link. What belongs to an install is named by its id.
 */
export interface LinuxLayout {
  /** Lasting: `/var/lib/homeport-host`. */
  folder: string;
  /** Sockets, gone after a restart of the machine: `/run/homeport-host`. */
  runFolder: string;
  /** Limits for the files of one install. */
  limits: InstallLimits;
  /** The id of this host. */
  identity: string;
  /** Scripts that other programs run (AuthorizedKeysCommand, the shell of a log-in). */
  scripts: string;
  /** WordPress, a folder for each version, read-only and shared by all installs. */
  cores: string;
  coreOf(wordpressVersion: string): string;
  /** Database dumps of a new WordPress, one for each version. */
  golden: string;
  /** The PHP of cores, compiled: a folder for each core, PHP and build of both. Read-only and shared. */
  compiled: string;
  /** Other PHP versions than the machine's own: `<version>/` is the root of a Debian that has it. */
  phpRoots: string;
  /** What each install should be, and what was decided for it: one JSON file each, root's alone. */
  records: string;
  recordOf(installId: string): string;
  /** The same of installs that are put aside: not served, their data kept. */
  aside: string;
  /** The id of the platform that this host belongs to. */
  platform: string;
  /** What is under way with an install, for the case that the host is killed: one JSON file each. */
  journals: string;
  journalOf(installId: string): string;
  /** Homes: root's own folder, in which `htdocs` and `private` are the install's. The SFTP root. */
  installs: string;
  homeOf(installId: string): string;
  /** The document root. */
  htdocsOf(installId: string): string;
  /** Files of the install that are never served: log, first password. */
  privateOf(installId: string): string;
  /** Page caches, one folder each, the web server's. */
  caches: string;
  cacheOf(installId: string): string;
  nginx: string;
  /** `<host name>/<path>`: texts that the web server shows before anything else. */
  proofs: string;
  mariadb: string;
  ssh: string;
  /** Backups, where no other place is configured. */
  backups: string;
  /** What is being deleted, and what is being made, on the same file system as the rest. */
  scratch: string;
  hostSocket: string;
  keysSocket: string;
  /** Folder of the database server's socket. Sandboxes bind the folder: a socket file goes stale. */
  mariadbRun: string;
  mariadbSocket: string;
  /** Sockets of the installs' PHP. Root's, so that no install can put a link to another's in the place of its own. */
  phpRun: string;
  phpSocketOf(installId: string): string;
  /** Folder of an install's own sockets: in `redis/`, Redis's. */
  runOf(installId: string): string;
  redisRunOf(installId: string): string;
  redisSocketOf(installId: string): string;
}

/** Functions throw a {@link PermanentHostError} for an id that is no UUID, and for a version that is none. */
export function linuxLayout(
  folder: string,
  runFolder: string,
  limits: InstallLimits = NO_LIMITS,
): LinuxLayout {
  const below = (name: string) => join(folder, name);
  const installs = below('installs');
  const runOf = (id: string) => join(runFolder, 'installs', checkedId(id));
  return {
    folder,
    runFolder,
    limits,
    identity: below('host.json'),
    scripts: below('lib'),
    cores: below('core'),
    coreOf: (version) => join(below('core'), checkedVersion(version)),
    golden: below('golden'),
    compiled: below('compiled'),
    phpRoots: below('php'),
    records: below('records'),
    recordOf: (id) => join(below('records'), `${checkedId(id)}.json`),
    aside: below('aside'),
    platform: below('platform'),
    journals: below('journals'),
    journalOf: (id) => join(below('journals'), `${checkedId(id)}.json`),
    installs,
    homeOf: (id) => join(installs, checkedId(id)),
    htdocsOf: (id) => join(installs, checkedId(id), 'htdocs'),
    privateOf: (id) => join(installs, checkedId(id), 'private'),
    caches: below('cache'),
    cacheOf: (id) => join(below('cache'), checkedId(id)),
    nginx: below('nginx'),
    proofs: below('proofs'),
    mariadb: below('mariadb'),
    ssh: below('ssh'),
    backups: below('backups'),
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
