import type { Operation } from '../../../api/operations.ts';
import type { Tone } from '../../../components/notice.tsx';
import { truncate } from '../../../components/truncate.ts';

/** The list of backups shows the full description. */
const LONGEST_DESCRIPTION = 120;

type Kind = Operation['kind'];

const NAMES: Record<Kind, string> = {
  provision_install: 'Creating the website',
  apply_install: 'Applying settings',
  switch_wordpress: 'Changing the WordPress version',
  create_backup: 'Creating a backup',
  restore_backup: 'Restoring a backup',
  copy_install: 'Copying another install into this one',
  purge_cache: 'Purging a cache',
  configure_offload: 'Checking the bucket for offloading',
};

const PURGES: Record<NonNullable<Operation['cache']>, string> = {
  page: 'Purging the page cache',
  object: 'Purging the object cache',
  cdn: 'Purging the CDN',
};

/** Returns a label of an operation, with the description of its backup or the source of its copy. */
export function operationName({
  kind,
  cache,
  backup,
  copy,
}: Pick<Operation, 'kind' | 'cache' | 'backup' | 'copy'>): string {
  if (copy !== null && copy.from !== null) return `Copying ${copy.from} into this install`;
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

const STATES: Record<Operation['state'], { word: string; tone: Tone }> = {
  queued: { word: 'Waiting', tone: 'busy' },
  running: { word: 'In progress', tone: 'busy' },
  succeeded: { word: 'Done', tone: 'good' },
  failed: { word: 'Failed', tone: 'bad' },
  cancelled: { word: 'Cancelled', tone: 'plain' },
};

/** Returns the label of an operation's state. An operation that waits after a failure will be retried. */
export function operationState({ state, attempt }: Pick<Operation, 'state' | 'attempt'>): {
  word: string;
  tone: Tone;
} {
  if (state === 'queued' && attempt > 0) return { word: 'Retry pending', tone: 'busy' };
  return STATES[state];
}

const AFTER_FAILURE: Record<Kind, string> = {
  provision_install:
    'Everything was rolled back. Delete this install and create it again. If it fails again, contact your provider.',
  apply_install:
    'The website keeps its previous settings. Change the setting again. If it fails again, contact your provider.',
  switch_wordpress: 'The website keeps its previous version.',
  create_backup: 'The website is not affected. Create the backup again.',
  restore_backup: 'Check the website first, then restore the backup again.',
  copy_install: 'Check the website first, then copy it again.',
  purge_cache: 'Purge the cache again.',
  configure_offload: 'The previous settings stay active. Fix the problem above and submit again.',
};

/** Returns what to do after a failure; null for other states. */
export function failureAdvice({ kind, state }: Pick<Operation, 'kind' | 'state'>): string | null {
  return state === 'failed' ? AFTER_FAILURE[kind] : null;
}

/** Returns when the operation entered its state. */
export function stateSince({ state, created_at, started_at, finished_at }: Operation): string {
  if (state === 'queued') return created_at;
  return (state === 'running' ? started_at : finished_at) ?? created_at;
}
