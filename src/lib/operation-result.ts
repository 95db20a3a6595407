import type { OperationKind } from './operation.ts';

const BROKEN_IN_PLACE = 'what does not work in the website, which stays in place';

/**
 * The fields of each kind's result, and when a result has them; null: always. A job's result is checked against this table, which
 * is also the description of the API.
 */
export const RESULT_FIELDS: Record<OperationKind, Readonly<Record<string, string | null>>> = {
  'install.create': { install_id: null },
  'install.apply': {},
  'install.copy': {
    backup_id: 'if the backup is kept',
    checkpoint_id: 'with a checkpoint',
    warning: BROKEN_IN_PLACE,
  },
  'install.import': {
    checkpoint_id: 'with a checkpoint',
    left_out: 'what was skipped or not imported from the archive, if anything',
    warning: BROKEN_IN_PLACE,
  },
  'install.delete': {},
  'backup.create': { backup_id: null },
  'backup.restore': {
    backup_id: null,
    checkpoint_id: 'with a checkpoint',
    withheld_domains: 'if a restored deleted install does not serve all its domains again',
    warning: BROKEN_IN_PLACE,
  },
  'backup.delete': {},
  'archive.create': { archive_id: null, backup_id: null },
  'domain.check': { report_id: null },
  'certificate.order': {},
  'cache.purge': { cache: null, paths: 'with single pages', path_count: 'with single pages' },
  'offload.configure': {},
  'wordpress.read': {},
  'wordpress.update': {
    version: 'if WordPress itself was updated',
    plugins: 'the number of updated plugins, if any',
    themes: 'the number of updated themes, if any',
    checkpoint_id: 'with a checkpoint',
    restored:
      '`true` if the checkpoint was restored after an interruption, before the updates were made again: later changes are lost',
    warning: 'how a page looks different, if the updates stay all the same',
  },
  'wordpress.change': {
    id: null,
    name: null,
    version: 'if it has one',
    warning: 'how a page looks different, if the change stays all the same',
    checkpoint_id: 'with a checkpoint',
  },
  'install.update_php': { version: null },
  'install.update_php_limits': {},
  'install.restart_php': {},
  'wordpress.cli': {
    exit_status: null,
    command: 'its first words, such as `plugin list`',
    stdout: 'for an hour, when you get this operation and may run commands',
    stderr: 'likewise',
    stdout_truncated: 'if it was cut',
    stderr_truncated: 'likewise',
  },
  'install.move': {},
  'site.transfer': {},
};

/** Throws an error unless a result has the fields of its kind. */
export function requireResultOf(kind: OperationKind, result: Readonly<Record<string, string>>): void {
  const fields = RESULT_FIELDS[kind];
  const unknown = Object.keys(result).find((field) => !Object.hasOwn(fields, field));
  if (unknown !== undefined) throw new Error(`the result of ${kind} has no field ${unknown}`);
  const missing = Object.entries(fields).find(
    ([field, when]) => when === null && !Object.hasOwn(result, field),
  );
  if (missing !== undefined) throw new Error(`the result of ${kind} lacks ${missing[0]}`);
}

/** Describes the results of all kinds that have one, as Markdown. */
export function describeResults(): string {
  return Object.entries(RESULT_FIELDS)
    .filter(([, fields]) => Object.keys(fields).length > 0)
    .map(([kind, fields]) => `\`${kind}\`: ${describeFields(fields)}`)
    .join('; ');
}

/** Describes the fields of one result: "`backup_id`, `checkpoint_id` with a checkpoint". */
export function describeFields(fields: Readonly<Record<string, string | null>>): string {
  return Object.entries(fields)
    .map(([field, when]) => (when === null ? `\`${field}\`` : `\`${field}\` ${when}`))
    .join(', ');
}
