/**
 * The kinds of operations: work that users start, or that the platform does on their installs, and can follow (docs/api.md,
 * Operations). A job type names its kind; jobs of other types are the platform's own matter.
 */
export const OPERATION_KINDS = [
  'install.create',
  'install.apply',
  'install.copy',
  'install.import',
  'install.delete',
  'install.move',
  'backup.create',
  'backup.restore',
  'backup.delete',
  'archive.create',
  'domain.check',
  'certificate.order',
  'cache.purge',
  'offload.configure',
  'wordpress.read',
  'wordpress.update',
  'wordpress.change',
  'install.update_php',
  'install.update_php_limits',
  'install.restart_php',
  'wordpress.cli',
  'site.transfer',
] as const;

export type OperationKind = (typeof OPERATION_KINDS)[number];

/** Those that can be repeated after a failure (`POST /operations/{id}/retry`). */
export const RETRYABLE_KINDS: readonly OperationKind[] = [
  'install.create',
  'install.apply',
  'install.copy',
  'install.import',
  'backup.create',
  'backup.restore',
  'archive.create',
  'certificate.order',
  'cache.purge',
  'offload.configure',
  'wordpress.read',
  'wordpress.update',
  'wordpress.change',
  'install.update_php',
];

/** `cancelled`: by a user, or because the install was deleted. */
export const OPERATION_STATUSES = ['queued', 'running', 'succeeded', 'failed', 'cancelled'] as const;
export type OperationStatus = (typeof OPERATION_STATUSES)[number];

/** The unit of an operation's progress. */
export const PROGRESS_UNITS = ['bytes', 'files'] as const;
export type ProgressUnit = (typeof PROGRESS_UNITS)[number];

/** The result of a service that started an operation. */
export type WithOperation<Result> = Result & { operationId: string };

/** Every code of a failed operation, with what to do about it; null: {@link ADVICE_OF_KINDS} of the operation's kind. */
const ADVICE_OF_CODES = {
  /** The log of the platform has the cause. */
  unexpected: null,
  timed_out: null,
  /** The worker's process ended. */
  interrupted: null,
  /** The worker's process ended each time. */
  set_aside: 'Your provider must find the cause first. Start the operation again after that.',
  /** The job was stored by another version. */
  outdated: 'Start the operation again.',
  /** It waits for something else, such as the backup of a copy. */
  waiting: null,
  host_unreachable: 'Homeport tries again until the machine answers. If this lasts, contact your provider.',
  disk_full: 'Your provider must make room on the disk. Start the operation again after that.',
  /** The host refused the change for a reason that the message gives. */
  host_refused: null,
  website_missing: 'Check that the install still exists and is active.',
  source_missing: 'Choose another install or backup.',
  source_backup_failed: 'Look at the backups of the source install, fix the cause, and copy again.',
  checkpoint_failed: 'Look at the backups of the install, or repeat it without a checkpoint.',
  /** An earlier failure left the website between two states, and this waited for its repair. */
  not_restored: 'Restore a backup of the install, then start the operation again.',
  /** The website has its former state again. */
  rolled_back: 'The website is as it was before. Fix what the message names or leave it out, then try again.',
  /** Likewise. A change of a plugin or theme made pages look different. */
  pages_differ:
    'The website is as it was before. If pages should look like that, make the change again with `keep`; the portal offers this after a second attempt.',
  /** Nothing was changed. */
  change_refused: 'The website is unchanged. Fix what the message names, and try again.',
  /** Nothing was replaced. */
  import_refused: 'The website is unchanged. Fix what the message names, and import again.',
  storage_refused: null,
  validation_file_missing:
    'Put the validation file of the install at the root of the bucket, and submit the settings again.',
  validation_file_wrong: 'Upload the validation file of the install again, and submit the settings again.',
  cdn_refused: 'Your provider must check the credentials of the CDN.',
  certificate_refused: 'Check the DNS records of the domain. Homeport orders again automatically.',
  /** The new settings are active, but the database has URLs with the former name or scheme. */
  urls_not_replaced:
    'The website has its new settings. Replace the old URLs in its database with a plugin, or contact your provider.',
  certificate_paused: 'Homeport orders again automatically.',
  /** Any other failure that the message explains. */
  failed: null,
} as const;

export type OperationErrorCode = keyof typeof ADVICE_OF_CODES;

const ADVICE_OF_KINDS: Partial<Record<OperationKind, string>> = {
  'install.create':
    'Everything was rolled back. Try again, or delete this install. If it fails again, contact your provider.',
  'install.apply':
    'The website keeps its previous settings. Change the setting again. If it fails again, contact your provider.',
  'install.copy': 'Check the website first, then copy it again.',
  'install.import': 'Check the website first, then import again.',
  'install.delete': 'Your provider must remove what is left of the website.',
  'install.move':
    'Your provider must fix the cause first. The website stays where it was, unless the new machine took over already.',
  'backup.create': 'The website is not affected. Create the backup again.',
  'backup.restore': 'Check the website first, then restore the backup again.',
  'backup.delete': 'Delete the backup again.',
  'archive.create': 'The backup is not affected. Create the archive again.',
  'domain.check': 'Check the domain again.',
  'cache.purge': 'Purge the cache again.',
  'offload.configure': 'The previous settings stay active. Fix the problem above and submit again.',
  'wordpress.read': 'The former reading stays. Fix what the message names, then refresh again.',
  'wordpress.update': 'The website keeps its previous version.',
  'wordpress.change': 'Check the website first, then try the change again.',
  'install.update_php':
    'The website keeps its previous PHP version. Fix what the message names, then switch again.',
  'install.update_php_limits':
    'PHP keeps its former limits. Fix what the message names, then change them again.',
  'install.restart_php': 'Restart PHP again.',
  'wordpress.cli': 'Check the website first, then run the command again if it is needed.',
};

/** The user's next step after a failure; null without one. */
export function adviceFor(kind: OperationKind, code: OperationErrorCode): string | null {
  return ADVICE_OF_CODES[code] ?? ADVICE_OF_KINDS[kind] ?? null;
}

export const OPERATION_ERROR_CODES = Object.keys(ADVICE_OF_CODES).filter(isErrorCode);

function isErrorCode(text: string): text is OperationErrorCode {
  return Object.hasOwn(ADVICE_OF_CODES, text);
}

/** A stored code. Codes of other versions count as `failed`. */
export function parseErrorCode(text: string | null): OperationErrorCode {
  return text !== null && isErrorCode(text) ? text : 'failed';
}
