import { join } from 'node:path';
import { parseUuid } from '../../../lib/ids.ts';
import { PermanentHostError } from '../../contract/errors.ts';

/** The layout of the embedded host's folder. Everything of an install is named by its id. */
export interface Layout {
  /** One file for each install: the desired state of its website. */
  vhosts: string;
  /** One folder for each install, with its document root and its database. */
  installs: string;
  /** Vhost files of installs that are set aside, which the edge does not read. */
  aside: string;
  snapshots: string;
  /** An index of each snapshot, which can be made again. */
  snapshotIndexes: string;
  /** As {@link snapshotIndexes}, of the tables of their databases. */
  tableIndexes: string;
  /** Packed archives for download, a folder for each install. */
  archives: string;
  /** One file for each published challenge. */
  proofs: string;
  /** Files being deleted, never read. */
  trash: string;
  /** WordPress versions, one folder each. */
  cores: string;
  coreOf(version: string): string;
  /** A prepared website of each WordPress version. */
  golden: string;
  /** Prepared websites that are being made. */
  making: string;
  /** Folder of the PHP runtime. */
  php: string;
  /** Machine code of PHP, which the next start uses. */
  phpCode: string;
  /** The PHP that websites ran on last. */
  phpChoice: string;
  /** The SQLite plugin of WordPress, one folder for each version. */
  sqlite: string;
  /** WP-CLI, one folder for each version. */
  wpCli: string;
  /** phpMyAdmin, one folder for each version that was opened. */
  phpMyAdmin: string;
  /** Unfinished work. */
  scratch: string;
  /** Default certificate and private key of the edge, for names without a certificate. */
  edgeCertificate: string;
  sshHostKey: string;
  /** Traffic counts that the control plane collects. */
  usage: string;
  /** One folder for each install with its logs, which neither PHP nor SFTP reaches. */
  logs: string;
  logsOf(installId: string): string;
  /** One file for each install whose mail was refused. */
  refusals: string;
  refusalsOf(installId: string): string;
  /** For each install: how far the last change of a plugin or theme is, and how far the last updates are. */
  changes: string;
  changeOf(installId: string): string;
  updateOf(installId: string): string;
  /** The id of the folder. */
  folderId: string;
  /** The process that last served from the folder. */
  lastServer: string;
  /** The id of the platform that the folder belongs to. */
  platform: string;
  vhostOf(installId: string): string;
  asideOf(installId: string): string;
  installOf(installId: string): string;
  /** The document root. */
  filesOf(installId: string): string;
  /** Folder of the database, beside the document root. */
  databaseOf(installId: string): string;
  /** Holds a website while it is imported. */
  importOf(installId: string): string;
}

/** The folders of a website, in a folder of its own. */
export interface WebsiteFolders {
  /** The document root. */
  files: string;
  database: string;
}

export const websiteIn = (folder: string): WebsiteFolders => ({
  files: join(folder, 'files'),
  database: join(folder, 'database'),
});

/** The layout below the folder `root`. Its functions throw a {@link PermanentHostError} for an id that is no UUID. */
export function layoutOf(root: string): Layout {
  const vhosts = join(root, 'vhosts');
  const installs = join(root, 'installs');
  const aside = join(root, 'aside');
  return {
    vhosts,
    installs,
    aside,
    snapshots: join(root, 'snapshots'),
    snapshotIndexes: join(root, 'snapshot-indexes'),
    tableIndexes: join(root, 'table-indexes'),
    archives: join(root, 'archives'),
    proofs: join(root, 'proofs'),
    trash: join(root, 'trash'),
    cores: join(root, 'wordpress'),
    coreOf: (version) => join(root, 'wordpress', version),
    golden: join(root, 'golden'),
    making: join(root, 'golden', '.making'),
    php: join(root, 'php'),
    phpCode: join(root, 'php-code'),
    phpChoice: join(root, 'php.json'),
    sqlite: join(root, 'sqlite-plugin'),
    wpCli: join(root, 'wp-cli'),
    phpMyAdmin: join(root, 'phpmyadmin'),
    scratch: join(root, 'scratch'),
    edgeCertificate: join(root, 'edge-certificate.pem'),
    sshHostKey: join(root, 'ssh-host-key'),
    usage: join(root, 'usage.sqlite'),
    logs: join(root, 'logs'),
    logsOf: (id) => join(root, 'logs', checked(id)),
    refusals: join(root, 'mail-refusals'),
    refusalsOf: (id) => join(root, 'mail-refusals', `${checked(id)}.json`),
    changes: join(root, 'changes'),
    changeOf: (id) => join(root, 'changes', `${checked(id)}.json`),
    updateOf: (id) => join(root, 'changes', `${checked(id)}.update.json`),
    folderId: join(root, 'id'),
    lastServer: join(root, 'last-server.json'),
    platform: join(root, 'platform'),
    vhostOf: (id) => join(vhosts, `${checked(id)}.json`),
    asideOf: (id) => join(aside, `${checked(id)}.json`),
    installOf: (id) => join(installs, checked(id)),
    filesOf: (id) => websiteIn(join(installs, checked(id))).files,
    databaseOf: (id) => websiteIn(join(installs, checked(id))).database,
    importOf: (id) => join(installs, checked(id), '.import'),
  };
}

/** The install whose vhost file has that name, or undefined if it is not the name of one. */
export function installOfVhostFile(fileName: string): string | undefined {
  if (!fileName.endsWith('.json')) return undefined;
  const id = fileName.slice(0, -'.json'.length);
  return parseUuid(id) === id ? id : undefined;
}

// An id becomes part of a path, so only a canonical UUID is accepted.
function checked(id: string): string {
  if (parseUuid(id) !== id) throw new PermanentHostError(`"${id}" is not the id of an install`);
  return id;
}
