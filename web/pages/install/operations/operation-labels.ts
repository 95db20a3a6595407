import type { Operation } from '../../../api/operations.ts';
import { formatBytes } from '../../../components/bytes.ts';
import { displayName } from '../../../components/display-name.ts';
import type { Tone } from '../../../components/notice.tsx';
import { truncate } from '../../../components/truncate.ts';

/** Of the description of a backup, and of a path. */
const LONGEST_DESCRIPTION = 120;

type Kind = Operation['kind'];

const NAMES: Record<Kind, string> = {
  'install.create': 'Creating the website',
  'install.apply': 'Applying settings',
  'install.copy': 'Copying another install into this one',
  'install.import': 'Importing a website',
  'install.delete': 'Deleting the website',
  'install.move': 'Moving to another machine',
  'install.update_php': 'Changing the PHP version',
  'wordpress.read': 'Reading WordPress',
  'wordpress.change': 'Changing a plugin or theme',
  'wordpress.update': 'Updating WordPress, plugins or themes',
  'install.update_php_limits': 'Changing the PHP limits',
  'install.restart_php': 'Restarting PHP',
  'wordpress.cli': 'Running WP-CLI',
  'backup.create': 'Creating a backup',
  'backup.restore': 'Restoring a backup',
  'backup.delete': 'Deleting a backup',
  'archive.create': 'Creating an archive of a backup',
  'domain.check': 'Checking a domain',
  'certificate.order': 'Ordering a certificate',
  'cache.purge': 'Purging a cache',
  'offload.configure': 'Changing the file offload',
  'site.transfer': 'Transferring the site to another account',
};

const PURGES: Record<NonNullable<Operation['cache']>, string> = {
  page: 'Purging the page cache',
  object: 'Purging the object cache',
  cdn: 'Purging the CDN',
  all: 'Purging all caches',
};

function purgedPages({ count, first }: NonNullable<Operation['pages']>): string {
  const path = truncate(first, LONGEST_DESCRIPTION);
  return count === 1 ? `Purging the page ${path}` : `Purging ${count} pages: ${path} and ${count - 1} more`;
}

/** Returns a label of an operation of this kind. */
export const kindName = (kind: Kind): string => NAMES[kind];

/** Returns the label of a kind that may be unknown. */
export const nameOfKind = (kind: string): string | undefined =>
  Object.entries(NAMES).find(([known]) => known === kind)?.[1];

/** Returns a label of an operation, with its domain, the pages of its purge, the description of its backup or the source of its copy. */
export function operationName({
  kind,
  cache,
  pages,
  backup,
  copy,
  domain,
}: Pick<Operation, 'kind' | 'cache' | 'pages' | 'backup' | 'copy' | 'domain'>): string {
  if (domain !== null) return `${NAMES[kind]} for ${displayName(domain.name)}`;
  if (copy !== null && copy.from !== null) return `Copying ${copy.from} into this install`;
  if (pages !== null) return purgedPages(pages);
  if (cache !== null) return PURGES[cache];
  if (backup === null) return NAMES[kind];
  return `${NAMES[kind]}: ${truncate(backup.description, LONGEST_DESCRIPTION)}`;
}

/** Returns the current step of a copy; null if it waits or has ended, and for other operations. */
export function copyStep({ copy }: Pick<Operation, 'copy'>): string | null {
  if (copy === null || copy.step === null || copy.step === 'waiting') return null;
  const from = copy.from ?? 'the other install';
  return copy.step === 'backing_up'
    ? `Step 1 of 2: backing up ${from}.`
    : 'Step 2 of 2: restoring the backup into this install.';
}

const STATES: Record<Operation['status'], { word: string; tone: Tone }> = {
  queued: { word: 'Waiting', tone: 'busy' },
  running: { word: 'In progress', tone: 'busy' },
  succeeded: { word: 'Done', tone: 'good' },
  failed: { word: 'Failed', tone: 'bad' },
  cancelled: { word: 'Cancelled', tone: 'plain' },
};

/** Returns the label of an operation's state. An operation that waits after a failure will be retried. */
export function operationState({ status, attempt }: Pick<Operation, 'status' | 'attempt'>): {
  word: string;
  tone: Tone;
} {
  if (status === 'queued' && attempt > 0) return { word: 'Retry pending', tone: 'busy' };
  return STATES[status];
}

/** Returns how far the operation is; null if it does not say. */
export function progressLabel({ progress }: Pick<Operation, 'progress'>): string | null {
  if (progress === null) return null;
  const { done, total, unit, step } = progress;
  const text = (amount: number) => (unit === 'bytes' ? formatBytes(amount) : `${amount} files`);
  const amount = total === null ? text(done) : `${text(done)} of ${text(total)}`;
  const named = step === null ? undefined : STEPS[step];
  if (named === undefined) return amount;
  return done === 0 ? `${named}.` : `${named}: ${amount}`;
}

/** The steps of an import, and of a new install that has to wait for WordPress. */
const STEPS: Partial<Record<string, string>> = {
  wordpress: 'Downloading WordPress',
  download: 'Downloading the archive',
  unpack: 'Unpacking',
  database: 'Loading the database',
  urls: 'Replacing URLs',
  check: 'Checking the website',
};

/** Returns when the operation entered its state. */
export function stateSince({
  status,
  created_at,
  started_at,
  finished_at,
}: Pick<Operation, 'status' | 'created_at' | 'started_at' | 'finished_at'>): string {
  if (status === 'queued') return created_at;
  return (status === 'running' ? started_at : finished_at) ?? created_at;
}
