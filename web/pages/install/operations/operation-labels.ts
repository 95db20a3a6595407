import type { Operation } from '../../../api/operations.ts';
import type { Tone } from '../../../components/notice.tsx';
import { truncate } from '../../../components/truncate.ts';

/** The list of backups has it whole. */
const LONGEST_DESCRIPTION = 120;

type Kind = Operation['kind'];

const NAMES: Record<Kind, string> = {
  provision_install: 'Making the website',
  apply_install: 'Applying its settings',
  switch_wordpress: 'Changing the WordPress version',
  create_backup: 'Making a backup',
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

/** What an operation is to the people of a website; a backup by its description, a copy by what is copied. */
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

/** What a copy is doing; null where it waits or has ended, and of all else. */
export function copyStep({ copy }: Pick<Operation, 'copy'>): string | null {
  if (copy === null || copy.step === null || copy.step === 'waiting') return null;
  const from = copy.from ?? 'the other install';
  return copy.step === 'backing_up'
    ? `Step 1 of 2: ${from} is being backed up.`
    : 'Step 2 of 2: the backup is being put into this install.';
}

const STATES: Record<Operation['state'], { word: string; tone: Tone }> = {
  queued: { word: 'Waiting', tone: 'busy' },
  running: { word: 'Under way', tone: 'busy' },
  succeeded: { word: 'Done', tone: 'good' },
  failed: { word: 'Failed', tone: 'bad' },
  cancelled: { word: 'Called off', tone: 'plain' },
};

/** The state of an operation in a word; one that waits after a failure is to be tried again. */
export function operationState({ state, attempt }: Pick<Operation, 'state' | 'attempt'>): {
  word: string;
  tone: Tone;
} {
  if (state === 'queued' && attempt > 0) return { word: 'To be tried again', tone: 'busy' };
  return STATES[state];
}

const AFTER_FAILURE: Record<Kind, string> = {
  provision_install:
    'What had been made was undone. Delete this install and make it again; if it fails again, ask your provider.',
  apply_install:
    'The website runs on as it was before. Change the setting again; if it fails again, ask your provider.',
  switch_wordpress: 'The website runs on with the version that it had.',
  create_backup: 'The website itself is not affected. Make the backup again.',
  restore_backup: 'Look at the website before you do anything else, then restore the backup again.',
  copy_install: 'Look at the website before you do anything else, then copy again.',
  purge_cache: 'Purge the cache again.',
  configure_offload:
    'What was in force stays in force. Mend what the sentence names, and submit the settings again.',
};

/** What to do now; null where there is nothing to be done. */
export function failureAdvice({ kind, state }: Pick<Operation, 'kind' | 'state'>): string | null {
  return state === 'failed' ? AFTER_FAILURE[kind] : null;
}

/** Since when it has been in its state. */
export function stateSince({ state, created_at, started_at, finished_at }: Operation): string {
  if (state === 'queued') return created_at;
  return (state === 'running' ? started_at : finished_at) ?? created_at;
}
